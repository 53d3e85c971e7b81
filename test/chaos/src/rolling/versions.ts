import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
/** Limit of the output of a build. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

/** A version that is installed and built. */
export interface Version {
  /** For reports. */
  readonly name: string
  readonly folder: string
}

export const currentVersion: Version = { name: 'this version', folder: ROOT }

/**
 * Installs and builds a commit, once: later runs use the same folder, in the folder of temporary files.
 *
 * @throws Error with the reason if there is no such commit, or it cannot be installed or built
 */
export async function buildVersion(commit: string, say: (line: string) => void): Promise<Version> {
  const { stdout } = await run('git', ['rev-parse', '--verify', '--quiet', `${commit}^{commit}`], { cwd: ROOT }).catch(
    () => {
      throw new Error(`${commit} is not a commit of this repository; a shallow clone lacks earlier ones`)
    },
  )
  const sha = stdout.trim()
  const folder = join(tmpdir(), 'heddle-versions', sha)
  const version = { name: sha.slice(0, 8), folder }
  const mark = join(folder, '.built')
  if (existsSync(mark)) return version
  say(`installing and building ${version.name} in ${folder}, which takes some minutes, once`)
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  await mkdir(folder, { recursive: true })
  const archive = join(folder, 'source.tar')
  await run('git', ['archive', '--output', archive, sha], { cwd: ROOT })
  const inFolder = { cwd: folder, maxBuffer: OUTPUT_BYTES_MAX }
  await run('tar', ['-xf', archive], inFolder)
  await rm(archive)
  await run('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], inFolder)
  await run('npm', ['run', 'build'], inFolder)
  await writeFile(mark, '')
  return version
}

/** The program of a service; null if the version has no such service. */
export function programOf({ folder }: Version, service: string): string | null {
  const file = join(folder, `services/${service}/dist/main.js`)
  return existsSync(file) ? file : null
}

/** Runs the command `heddle` of a version. @returns its answer */
export async function runCommand(
  { folder }: Version,
  argv: readonly string[],
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<Readonly<Record<string, unknown>>> {
  const parameters = [join(folder, 'packages/cli/bin/heddle.js'), ...argv, '--json']
  const env = { PATH: process.env['PATH'] ?? '', HOME: place.cwd, ...place.env }
  const { stdout } = await run(process.execPath, parameters, { cwd: place.cwd, env, maxBuffer: OUTPUT_BYTES_MAX })
  return JSON.parse(stdout) as Record<string, unknown>
}
