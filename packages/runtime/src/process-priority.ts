import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Has the system prefer other processes to this one while it has not enough for all, as `nice` does: what people wait for goes
 * before what is done behind their backs. Where there is enough for all it changes nothing.
 *
 * @param niceness 0 for no difference, to 19 for what others leave over
 * @returns whether the system did so; who runs with less may not be allowed to have more
 */
export function lowerProcessPriority(niceness: number): boolean {
  return threads().every((thread) => standBack(thread, niceness))
}

function standBack(thread: number, niceness: number): boolean {
  try {
    setPriority(thread, niceness)
    return true
  } catch (error) {
    return hasEnded(error)
  }
}

function hasEnded(error: unknown): boolean {
  return error instanceof Error && 'info' in error && (error.info as { code?: unknown }).code === 'ESRCH'
}

/** On Linux each thread has a priority of its own, and new ones that of who began them: those that are there are named. */
function threads(): number[] {
  try {
    return readdirSync('/proc/self/task').map(Number)
  } catch {
    return [0]
  }
}
