import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { promisify } from 'node:util'
import { Host } from './host.js'
import { type Slowness, slowNetwork } from './slowness.js'

const run = promisify(execFile)

/** The folder of Postgres's own programs in Debian. */
export const POSTGRES_PROGRAMS = '/usr/lib/postgresql/15/bin'
/** The library that gives a program another clock. */
export const FAKETIME_LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
/** The system's user under which Postgres runs: it refuses to run as root. */
export const POSTGRES_USER = 'postgres'

const programs = {
  ip: 'iproute2',
  tc: 'iproute2',
  iptables: 'iptables',
  setpriv: 'util-linux',
  etcd: 'etcd-server',
  patroni: 'patroni',
  haproxy: 'haproxy',
  pgbouncer: 'pgbouncer',
  'redis-server': 'redis-server',
  [`${POSTGRES_PROGRAMS}/postgres`]: 'postgresql-15',
  [FAKETIME_LIBRARY]: 'libfaketime',
} as const

export interface Machine {
  /** The reasons why a cluster cannot be started, each with its remedy. */
  readonly missing: readonly string[]
  readonly slowness: Slowness
}

/** Checks everything that a cluster needs of a machine. */
export async function examineMachine(): Promise<Machine> {
  const absent = new Map<string, string[]>()
  for (const [program, debianPackage] of Object.entries(programs)) {
    if (!(await isInstalled(program))) absent.set(debianPackage, [...(absent.get(debianPackage) ?? []), program])
  }
  const missing = [...absent].map(([debianPackage, names]) => {
    return `${names.join(' and ')} is missing: apt-get install --no-install-recommends ${debianPackage}`
  })
  return missing.length > 0 ? { missing, slowness: 'netem' } : await examineKernel()
}

/** Whether a program is on the path, or at its path. */
export async function isInstalled(program: string): Promise<boolean> {
  const folders = program.startsWith('/') ? [''] : ['/usr/local/sbin/', '/usr/sbin/', '/sbin/', ...pathFolders()]
  for (const folder of folders) {
    const found = await access(`${folder}${program}`, constants.R_OK).then(
      () => true,
      () => false,
    )
    if (found) return true
  }
  return false
}

function pathFolders(): string[] {
  return (process.env['PATH'] ?? '').split(':').map((folder) => `${folder}/`)
}

/** Tries everything once that needs a permission, or a module of the kernel. */
async function examineKernel(): Promise<Machine> {
  const namespace = `hc${process.pid}-0`
  const attempt = async (what: string, command: string, ...parameters: string[]) => {
    await run(command, parameters).catch((error: Error) => {
      throw new Error(`${what} could not be made, which takes root: ${error.message.trim().split('\n').at(-1)}`)
    })
  }
  const host = new Host({ label: namespace, namespace, address: '', folder: '' })
  try {
    await attempt('a network namespace', 'ip', 'netns', 'add', namespace)
    const peer = ['type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace]
    await attempt('an interface', 'ip', 'link', 'add', namespace, ...peer)
    for (const slowness of ['netem', 'queue'] as const) {
      const isPossible = await slowNetwork(host, slowness).then(
        () => true,
        () => false,
      )
      if (isPossible) return { missing: [], slowness }
    }
    const missing = 'the kernel can neither delay packets (sch_netem) nor limit and drop them (sch_tbf, xt_statistic)'
    return { missing: [missing], slowness: 'netem' }
  } catch (error) {
    return { missing: [(error as Error).message], slowness: 'netem' }
  } finally {
    await run('ip', ['netns', 'delete', namespace]).catch(() => {})
  }
}
