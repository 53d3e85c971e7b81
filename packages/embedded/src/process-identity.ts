import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Identifies a process by pid and start time, because pids are reused, quickly so in containers and after a restart of the
 * machine.
 */
export interface ProcessIdentity {
  pid: number
  /** Start time in a form that is only comparable on this machine. */
  startedAt: string
}

/** The running process with this pid, or null. A zombie counts as ended. */
export function identifyProcess(pid: number): ProcessIdentity | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null
  return process.platform === 'linux' ? identifyByProc(pid) : identifyByPs(pid)
}

/** Whether this process, and not another one with its pid, still runs. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt
}

export function ownIdentity(): ProcessIdentity {
  return identifyProcess(process.pid) ?? { pid: process.pid, startedAt: 'unknown' }
}

/** Parses an identity from JSON; null if it is malformed. */
export function parseIdentity(content: unknown): ProcessIdentity | null {
  if (typeof content !== 'object' || content === null || !('pid' in content) || !('startedAt' in content)) return null
  const { pid, startedAt } = content
  return typeof pid === 'number' && typeof startedAt === 'string' ? { pid, startedAt } : null
}

function identifyByProc(pid: number): ProcessIdentity | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in the second field may contain spaces and brackets, so fields are counted from the last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, startTicks] = [fields[0], fields[19]]
    if (state === 'Z' || state === 'X' || startTicks === undefined) return null
    // Ticks count from the start of the machine, so the identity includes the boot id.
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
