import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Makes the system prefer other processes while resources are scarce, as `nice` does, so that work with a waiting user
 * precedes background work. It has no effect while resources suffice.
 *
 * @param niceness 0 for no difference, up to 19 for only the resources left by others
 * @returns whether the system did so; a process with a lower priority may not raise it
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

/** On Linux each thread has a priority of its own, which new ones inherit: this lists the existing ones. */
function threads(): number[] {
  try {
    return readdirSync('/proc/self/task').map(Number)
  } catch {
    return [0]
  }
}
