import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from '@heddle/test-support/wait-for'
import type { Host } from './host.js'
import type { Program } from './program.js'
import type { ReplicatedServers } from './replicated-servers.js'
import { POSTGRES_PROGRAMS, POSTGRES_USER } from './requirements.js'

export const POSTGRES_PORT = 5432
/** Of Patroni's HTTP interface, which HAProxy checks. */
export const PATRONI_PORT = 8008
export const SUPERUSER = { name: 'postgres', password: 'superuser' } as const

/** A leader that is gone is replaced after `ttl` seconds at the latest. Chosen by docs/operations.md#high-availability. */
export const timing = { ttl: 8, loop_wait: 1, retry_timeout: 3 } as const

const READY_MS_MAX = 120_000
/** A member that is gone does not answer at all. */
const ANSWER_MS_MAX = 1_000

export interface PatroniOptions {
  readonly hosts: readonly Host[]
  /** Addresses of etcd. */
  readonly etcd: readonly string[]
  /** Whether a commit waits for a standby. */
  readonly isSynchronous: boolean
}

interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
}

/** Three Postgres servers, of which Patroni makes one the leader. */
export class Patroni implements ReplicatedServers {
  readonly #options: PatroniOptions
  readonly #programs = new Map<Host, Program>()

  constructor(options: PatroniOptions) {
    this.#options = options
  }

  async open(): Promise<void> {
    for (const host of this.#options.hosts) {
      await host.makeFolder(POSTGRES_USER)
      await writeFile(configurationFileOf(host), JSON.stringify(configurationOf(host, this.#options), null, 2))
      this.start(host)
    }
    await this.whenWhole(READY_MS_MAX)
  }

  start(host: Host): void {
    if (this.#programs.get(host)?.isRunning === true) return
    const program = host.start('patroni', { command: ['patroni', configurationFileOf(host)], user: POSTGRES_USER })
    this.#programs.set(host, program)
  }

  async leader(): Promise<Host> {
    return await waitFor(() => this.#findLeader(), { what: 'a leader', timeoutMs: READY_MS_MAX })
  }

  /** Resolves once every member runs, and a standby confirms commits if it has to. @throws Error after `timeoutMs` */
  async whenWhole(timeoutMs: number): Promise<void> {
    await waitFor(() => this.#isWhole(), { what: 'all members of Patroni to run', timeoutMs, everyMs: 250 })
  }

  async #findLeader(): Promise<Host | undefined> {
    const answers = await Promise.all(
      this.#options.hosts.map(async (host) => (await ask(host, 'primary'))?.ok === true),
    )
    return this.#options.hosts.find((_, index) => answers[index])
  }

  async #isWhole(): Promise<boolean> {
    const leader = await this.#findLeader()
    if (leader === undefined) return false
    const answer = await ask(leader, 'cluster')
    const { members = [] } = ((await answer?.json()) ?? {}) as { members?: Member[] }
    const isUp = ({ state }: Member) => state === 'running' || state === 'streaming'
    const isConfirmed = members.some(({ role }) => role === 'sync_standby') || !this.#options.isSynchronous
    return members.length === this.#options.hosts.length && members.every(isUp) && isConfirmed
  }
}

/** @returns null if the member does not answer */
async function ask({ address }: Host, path: string): Promise<Response | null> {
  const signal = AbortSignal.timeout(ANSWER_MS_MAX)
  return await fetch(`http://${address}:${PATRONI_PORT}/${path}`, { signal }).catch(() => null)
}

function configurationFileOf({ folder }: Host): string {
  return join(folder, 'patroni.json')
}

/** JSON is YAML, too. */
function configurationOf({ label, address, folder }: Host, { etcd, isSynchronous }: PatroniOptions) {
  return {
    scope: 'heddle',
    name: label,
    restapi: { listen: `${address}:${PATRONI_PORT}`, connect_address: `${address}:${PATRONI_PORT}` },
    etcd3: { hosts: etcd },
    bootstrap: {
      dcs: {
        ...timing,
        maximum_lag_on_failover: 16 * 1_048_576,
        synchronous_mode: isSynchronous,
        postgresql: {
          use_pg_rewind: true,
          parameters: {
            max_connections: 200,
            shared_buffers: '128MB',
            wal_keep_size: '256MB',
            wal_log_hints: 'on',
            // A killed leader first replays what was written since the last checkpoint, then it is rewound.
            checkpoint_timeout: '1min',
            // A server whose standby or client is cut off notices it.
            tcp_keepalives_idle: 5,
            tcp_keepalives_interval: 2,
            tcp_keepalives_count: 3,
            tcp_user_timeout: 10_000,
          },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
    },
    postgresql: {
      listen: `${address}:${POSTGRES_PORT}`,
      connect_address: `${address}:${POSTGRES_PORT}`,
      data_dir: `${folder}/data`,
      bin_dir: POSTGRES_PROGRAMS,
      pgpass: `${folder}/pgpass`,
      authentication: {
        superuser: { username: SUPERUSER.name, password: SUPERUSER.password },
        replication: { username: 'replicator', password: 'replicator' },
        rewind: { username: 'rewinder', password: 'rewinder' },
      },
      pg_hba: [
        'local all all trust',
        'host all all 0.0.0.0/0 scram-sha-256',
        'host replication replicator 0.0.0.0/0 scram-sha-256',
      ],
      parameters: { unix_socket_directories: folder },
    },
  }
}
