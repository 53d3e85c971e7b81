import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A `heddle up` that serves a data folder. */
export interface RunningUp {
  readonly pid: number
  readonly port: number
  readonly startedAt: string
}

/** The file that a `heddle up` writes. */
export const UP_FILE = 'up.json'
const ANSWER_WITHIN_MS = 2_000

/**
 * The `heddle up` that serves a data folder now, or null. The file alone is no proof: its writer may have been killed,
 * and its process id reused. So the process is queried, and must identify itself.
 */
export async function findUp(dataDir: string): Promise<RunningUp | null> {
  const up = await readUp(dataDir)
  if (up === null) return null
  try {
    const response = await fetch(`http://127.0.0.1:${up.port}/healthz`, {
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    })
    const answer: unknown = await response.json()
    return isRecord(answer) && answer['pid'] === up.pid && answer['dataDir'] === dataDir ? up : null
  } catch {
    // No answer, or one from another program: there is no `heddle up`.
    return null
  }
}

/** The contents of the file, possibly outdated. */
export async function readUp(dataDir: string): Promise<RunningUp | null> {
  try {
    const up: unknown = JSON.parse(await readFile(join(dataDir, UP_FILE), 'utf8'))
    if (!isRecord(up)) return null
    const { pid, port, startedAt } = up
    return typeof pid === 'number' && typeof port === 'number' && typeof startedAt === 'string'
      ? { pid, port, startedAt }
      : null
  } catch {
    // Absent, unreadable or damaged: the same for the caller.
    return null
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
