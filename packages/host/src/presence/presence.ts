import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createFile, makeFolder, replaceFile, unusableFolder } from '@heddle/embedded'

/** A `heddle up` that serves a data folder. */
export interface RunningUp {
  readonly pid: number
  readonly port: number
  readonly startedAt: string
}

const FILE_NAME = 'up.json'
const ANSWER_WITHIN_MS = 2_000

/**
 * Leaves word in the data folder, which is created if it is not there, that this process runs everything for it, or is about
 * to. Of two that do so at once, one gets to.
 *
 * @returns false where another one's word is there, and the other one lives
 */
export async function announceUp(dataDir: string, up: RunningUp): Promise<boolean> {
  await makeFolder(dataDir, dataDir)
  const path = join(dataDir, FILE_NAME)
  const text = `${JSON.stringify(up)}\n`
  try {
    if (await createFile(path, text)) return true
    if ((await findUp(dataDir)) !== null) return false
    await replaceFile(path, text)
    return true
  } catch (error) {
    throw unusableFolder(dataDir, error)
  }
}

/** Takes the word back; that of another process stays. */
export async function withdrawUp(dataDir: string, pid: number): Promise<void> {
  const up = await readUp(dataDir)
  if (up?.pid === pid) await rm(join(dataDir, FILE_NAME), { force: true })
}

/**
 * The `heddle up` that serves a data folder now, or null. The file alone proves nothing: its writer may have been killed,
 * and its process id may be another's by now. So the process is asked, and must name itself.
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
    // Nobody answers, or something that is no Heddle: there is no `heddle up`.
    return null
  }
}

/** Whether it serves already, and does not just start. */
export async function isReady(up: RunningUp): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
    return (await fetch(`http://127.0.0.1:${up.port}/readyz`, { signal })).ok
  } catch {
    return false
  }
}

async function readUp(dataDir: string): Promise<RunningUp | null> {
  try {
    const up: unknown = JSON.parse(await readFile(join(dataDir, FILE_NAME), 'utf8'))
    if (!isRecord(up)) return null
    const { pid, port, startedAt } = up
    return typeof pid === 'number' && typeof port === 'number' && typeof startedAt === 'string'
      ? { pid, port, startedAt }
      : null
  } catch {
    // Absent, unreadable or damaged: all the same to who asks.
    return null
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
