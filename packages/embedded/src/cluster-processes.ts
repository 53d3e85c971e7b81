import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { serverSettings, settingsArguments } from './settings.js'

/** A living Postgres server of a cluster. */
export interface ClusterServer {
  readonly pid: number
  /** Whether Heddle started it, as shown by its command-line settings. */
  readonly isOwn: boolean
}

/**
 * Finds the server of a cluster among the running processes: `postmaster.pid` may be incomplete, or name another process that
 * reuses the pid.
 *
 * @param folder the cluster's real path
 */
export function findClusterServer(folder: string): ClusterServer | null {
  for (const { pid, parts } of listProcesses()) {
    // Children of the server are named `postgres: checkpointer` and the like; other programs may only mention its folder.
    if (basename(parts[0] ?? '') !== 'postgres') continue
    if (parts.includes(folder) || workingFolder(pid) === folder) return { pid, isOwn: isOwn(parts) }
  }
  return null
}

function isOwn(parts: readonly string[]): boolean {
  const { listen_addresses, unix_socket_directories } = serverSettings(0, true)
  const own = settingsArguments({ listen_addresses, unix_socket_directories } as Record<string, string>)
  return own.every((part) => parts.includes(part))
}

function listProcesses(): { pid: number; parts: string[] }[] {
  if (process.platform === 'linux') {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return pids.map((pid) => ({ pid: Number(pid), parts: commandParts(pid) }))
  }
  const lines = execFileSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8', stdio: 'pipe' }).split('\n')
  return lines.map((line) => {
    const [pid = '', ...parts] = line.trim().split(' ')
    return { pid: Number(pid), parts }
  })
}

function commandParts(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    // The process has ended meanwhile.
    return []
  }
}

/** The working folder of a process, which for Postgres is the cluster. Only Linux shows it without a further program. */
function workingFolder(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return null
  }
}
