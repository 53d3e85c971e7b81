import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const EXECUTABLE = fileURLToPath(new URL('../../../../packages/cli/bin/heddle.js', import.meta.url))

interface Report {
  readonly checks: readonly {
    readonly name: string
    readonly status: string
    readonly detail: string
    readonly hint?: string
  }[]
}

/** What `heddle doctor` says about the search of a project. */
export async function doctorOfSearch(databaseUrl: string, project: string): Promise<string> {
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    DATABASE_URL: databaseUrl,
    HEDDLE_PROJECT: project,
  }
  const output = await new Promise<string>((resolve) => {
    // It fails for other reasons here, such as a prefix without workers; its report is complete all the same.
    execFile(process.execPath, [EXECUTABLE, 'doctor', '--json'], { env }, (_, stdout) => resolve(stdout))
  })
  const { checks } = JSON.parse(output) as Report
  const search = checks.find(({ name }) => name === 'search')
  if (search === undefined) throw new Error('heddle doctor said nothing about search')
  return [search.status, search.detail, ...(search.hint === undefined ? [] : [search.hint])].join(': ')
}
