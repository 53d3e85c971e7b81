import { join } from 'node:path'
import { type StageName, stageNames } from '@heddle/contracts'
import { closeLater } from '@heddle/test-support/closing'
import { freePort } from '@heddle/test-support/servers/redis-server'
import { Service, type ServiceOptions } from '../cluster/service.js'
import { PROJECT } from '../place.js'
import { AGENT } from '../production.js'
import type { BackendName } from '../servers.js'
import { openDataServers } from './data-servers.js'
import { startDoor } from './gateway-door.js'
import { LocalHost } from './local-host.js'
import type { VersionPlace } from './versioned-client.js'
import { programOf, runCommand, type Version } from './versions.js'

/** Two gateways behind HAProxy and a worker of each stage, on one machine. `closeAll` removes them. */
export interface Installation {
  /** The login of the tables' owner. */
  readonly adminUrl: string
  /** The address of HAProxy, and a key for its users. */
  readonly gateway: { readonly url: string; readonly key: string }
  readonly door: LocalHost
  readonly gateways: readonly GatewayService[]
  readonly stages: Map<StageName, Service>
  readonly hosts: readonly LocalHost[]
  /** How a user inside of the network connects. */
  readonly queue: VersionPlace['connect']
  /** Runs `heddle migrate`, as the owner of the tables. */
  migrate(version: Version): Promise<void>
  /** Starts a worker, of a stage that the earlier version does not have. */
  addStage(stage: StageName, version: Version): Promise<void>
}

export interface GatewayService {
  readonly service: Service
  /** Its own address. */
  readonly url: string
}

const PREFIX = 'rolling'
const GATEWAYS = 2
/** A small budget, so that threads are compacted as they grow. */
const SETTINGS = { budget: 4_000, rollingWindow: null }

export async function openInstallation(
  backend: BackendName,
  version: Version,
  say: (line: string) => void,
): Promise<Installation> {
  const { folder, databaseUrl, adminUrl, redisUrl } = await openDataServers(backend)
  const hosts: LocalHost[] = []
  const services: Service[] = []
  closeLater(async () => {
    for (const service of services) service.stop()
    await Promise.all(hosts.map((host) => host.close()))
  })
  const addHost = async (label: string) => {
    const host = new LocalHost(label, join(folder, label))
    await host.makeFolder()
    hosts.push(host)
    return host
  }
  const env = {
    DATABASE_URL: databaseUrl,
    HEDDLE_QUEUE_PREFIX: PREFIX,
    HEDDLE_PROJECT: PROJECT,
    HEDDLE_EMBEDDER: 'hashing',
    HEDDLE_LOG_LEVEL: 'warn',
    ...(redisUrl !== null && { REDIS_URL: redisUrl }),
  }
  const command = { cwd: folder, env: { ...env, HEDDLE_ADMIN_DATABASE_URL: adminUrl } }
  const migrate = async (to: Version) => void (await runCommand(to, ['migrate'], command))
  await migrate(version)
  const created = await runCommand(version, ['keys', 'create', '--name', 'users', '--role', 'admin'], command)
  const key = String(created['key'])

  const start = async (
    label: string,
    from: Version,
    options: Pick<ServiceOptions, 'env' | 'ports' | 'portVariable'>,
  ) => {
    const script = programOf(from, label.replace(/\d$/, ''))
    if (script === null) throw new Error(`${from.name} has no service ${label}`)
    const service = new Service({
      ...options,
      env: { ...env, ...options.env },
      host: await addHost(label),
      script,
      say,
    })
    services.push(service)
    return service
  }
  const startStage = async (stage: StageName, from: Version) => {
    const ports = [await freePort(), await freePort()] as const
    return await start(stage, from, { env: {}, ports, portVariable: 'HEDDLE_HEALTH_PORT' })
  }
  const gateways: GatewayService[] = []
  for (let number = 1; number <= GATEWAYS; number++) {
    const port = await freePort()
    const options = { env: { HEDDLE_HOST: '127.0.0.1' }, ports: [port] as const, portVariable: 'HEDDLE_PORT' }
    gateways.push({ service: await start(`gateway${number}`, version, options), url: `http://127.0.0.1:${port}` })
  }
  const stages = new Map<StageName, Service>()
  for (const stage of stageNames) {
    if (programOf(version, stage) !== null) stages.set(stage, await startStage(stage, version))
  }
  const door = await addHost('haproxy')
  const doorPort = await freePort()
  const servers = gateways.map(({ service: { label }, url }) => ({ label, place: new URL(url).host }))
  await Promise.all(services.map((service) => service.whenReady()))
  // Not before: HAProxy would find the gateways away, and refuse users until it has checked them again.
  await startDoor(door, doorPort, servers)
  const gateway = { url: `http://127.0.0.1:${doorPort}`, key }
  await createAgent(gateway)
  return {
    adminUrl,
    gateway,
    door,
    gateways,
    stages,
    hosts,
    queue: { databaseUrl, project: PROJECT, queuePrefix: PREFIX, ...(redisUrl !== null && { redisUrl }) },
    migrate,
    async addStage(stage, to) {
      const service = await startStage(stage, to)
      stages.set(stage, service)
      await service.whenReady()
    },
  }
}

async function createAgent({ url, key }: Installation['gateway']): Promise<void> {
  const response = await fetch(`${url}/v1/agents/${AGENT}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ settings: SETTINGS }),
  })
  if (!response.ok) throw new Error(`the agent was refused: ${await response.text()}`)
}
