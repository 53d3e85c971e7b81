import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * A process, told apart from a later one that got the same pid: pids are reused, quickly so in containers and after a
 * restart of the machine.
 */
export interface ProcessIdentity {
  pid: number
  /** When it was started, in a form that only serves to be compared on this machine. */
  startedAt: string
}

/** The living process that has this pid, or null. One that ended and waits for its parent (a zombie) counts as gone. */
export function identifyProcess(pid: number): ProcessIdentity | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null
  return process.platform === 'linux' ? identifyByProc(pid) : identifyByPs(pid)
}

/** Whether this very process still runs. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt
}

/** This process. */
export function ownIdentity(): ProcessIdentity {
  return identifyProcess(process.pid) ?? { pid: process.pid, startedAt: 'unknown' }
}

/** An identity that was written to a file as JSON, or null when it is none. */
export function parseIdentity(content: unknown): ProcessIdentity | null {
  if (typeof content !== 'object' || content === null || !('pid' in content) || !('startedAt' in content)) return null
  const { pid, startedAt } = content
  return typeof pid === 'number' && typeof startedAt === 'string' ? { pid, startedAt } : null
}

function identifyByProc(pid: number): ProcessIdentity | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in the second field may hold spaces and brackets, so the fields are counted from its last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, startTicks] = [fields[0], fields[19]]
    if (state === 'Z' || state === 'X' || startTicks === undefined) return null
    // Ticks count from the start of the machine, so they need the machine's start beside them.
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return { pid, startedAt: `${boot}:${startTicks}` }
  } catch {
    return null
  }
}

function identifyByPs(pid: number): ProcessIdentity | null {
  try {
    if (ps(pid, 'state=').startsWith('Z')) return null
    return { pid, startedAt: ps(pid, 'lstart=') }
  } catch {
    return null
  }
}

function ps(pid: number, field: string): string {
  return execFileSync('ps', ['-o', field, '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' }).trim()
}
