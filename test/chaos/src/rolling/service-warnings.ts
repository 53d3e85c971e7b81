import { readFile } from 'node:fs/promises'
import type { LocalHost } from './local-host.js'

const WARN = 40

/** The lines of services from the level of warnings on, counted by service and message. */
export async function readWarnings(hosts: readonly LocalHost[]): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const host of hosts) {
    const log = await readFile(host.logOf('service'), 'utf8').catch(() => '')
    for (const line of log.split('\n')) {
      const warning = warningIn(line)
      if (warning === null) continue
      const kind = `${host.label}: ${warning}`
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
    }
  }
  return counts
}

interface Line {
  readonly level: number
  readonly msg?: string
  readonly error?: { readonly message?: string }
  readonly err?: { readonly message?: string }
}

/** Other output, such as the stack of a crash, counts as its first line. */
function warningIn(line: string): string | null {
  if (!line.startsWith('{')) return /^\w*Error\b/.test(line) ? line : null
  const { level, msg = '', error, err } = JSON.parse(line) as Line
  if (level < WARN) return null
  const cause = (error ?? err)?.message
  return cause === undefined ? msg : `${msg} (${cause})`
}
