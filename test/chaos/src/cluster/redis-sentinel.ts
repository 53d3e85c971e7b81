import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { askRedis } from '@heddle/test-support/servers/queue-server'
import { waitFor } from '@heddle/test-support/wait-for'
import type { Host } from './host.js'
import { isListening } from './is-listening.js'
import type { ReplicatedServers } from './replicated-servers.js'

const REDIS_PORT = 6379
const SENTINEL_PORT = 26_379
const NAME = 'heddle'
/** Sentinels that must agree that the primary is gone. */
const QUORUM = 2
const READY_MS_MAX = 60_000

/** Redis servers, one of them the primary, each beside a sentinel. */
export class RedisSentinel implements ReplicatedServers {
  readonly #hosts: readonly Host[]

  constructor(hosts: readonly Host[]) {
    this.#hosts = hosts
  }

  /** For `REDIS_URL`. */
  get url(): string {
    return `redis+sentinel://${this.#hosts.map(({ address }) => `${address}:${SENTINEL_PORT}`).join(',')}/${NAME}`
  }

  async open(): Promise<void> {
    const [primary] = this.#hosts
    if (primary === undefined) return
    for (const host of this.#hosts) {
      // Both programs write the present roles into their files, from which they start again.
      await writeFile(fileOf(host, 'redis'), redisConfiguration(host, primary))
      await writeFile(fileOf(host, 'sentinel'), sentinelConfiguration(host, primary))
      this.start(host)
      await waitFor(() => isListening(host.address, REDIS_PORT), { what: `Redis on ${host.label}` })
    }
    await this.whenWhole(READY_MS_MAX)
  }

  start(host: Host): void {
    host.start('redis', { command: ['redis-server', fileOf(host, 'redis')] })
    host.start('sentinel', { command: ['redis-server', fileOf(host, 'sentinel'), '--sentinel'] })
  }

  async leader(): Promise<Host> {
    const what = 'a primary of Redis that all sentinels name and all replicas follow'
    return await waitFor(() => this.#findPrimary(), { what, timeoutMs: READY_MS_MAX, everyMs: 250 })
  }

  async whenWhole(timeoutMs: number): Promise<void> {
    const isWhole = async () => {
      await this.leader()
      const lists = await Promise.all(
        this.#hosts.map((host) => ask(host, SENTINEL_PORT, 'SENTINEL', 'sentinels', NAME)),
      )
      return lists.every((list) => list.startsWith(`*${this.#hosts.length - 1}`))
    }
    await waitFor(isWhole, { what: 'all of Redis to run', timeoutMs, everyMs: 250 })
  }

  /** A primary that was cut off takes itself for one until a sentinel reaches it again. */
  async #findPrimary(): Promise<Host | undefined> {
    const command = ['SENTINEL', 'get-master-addr-by-name', NAME]
    const answers = await Promise.all(this.#hosts.map((host) => ask(host, SENTINEL_PORT, ...command)))
    const primary = this.#hosts.find(({ address }) => answers.every((answer) => answer.includes(`\r\n${address}\r\n`)))
    if (primary === undefined) return undefined
    const info = await ask(primary, REDIS_PORT, 'INFO', 'replication')
    const replicas = `connected_slaves:${this.#hosts.length - 1}`
    return info.includes('role:master') && info.includes(replicas) ? primary : undefined
  }
}

function ask({ address }: Host, port: number, ...command: string[]): Promise<string> {
  return askRedis(`redis://${address}:${port}`, command)
}

function fileOf({ folder }: Host, program: 'redis' | 'sentinel'): string {
  return join(folder, `${program}.conf`)
}

/** As docs/operations.md#high-availability recommends. */
function redisConfiguration({ address, folder }: Host, primary: Host): string {
  return [
    `port ${REDIS_PORT}`,
    `bind ${address}`,
    'protected-mode no',
    `dir ${folder}`,
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    'maxmemory-policy noeviction',
    'min-replicas-to-write 1',
    'min-replicas-max-lag 5',
    'repl-diskless-sync-delay 0',
    ...(address === primary.address ? [] : [`replicaof ${primary.address} ${REDIS_PORT}`]),
  ].join('\n')
}

function sentinelConfiguration({ address, folder }: Host, primary: Host): string {
  return [
    `port ${SENTINEL_PORT}`,
    `bind ${address}`,
    'protected-mode no',
    `dir ${folder}`,
    `sentinel monitor ${NAME} ${primary.address} ${REDIS_PORT} ${QUORUM}`,
    `sentinel down-after-milliseconds ${NAME} 2000`,
    `sentinel failover-timeout ${NAME} 6000`,
    `sentinel parallel-syncs ${NAME} 1`,
  ].join('\n')
}
