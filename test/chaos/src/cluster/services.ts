import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type StageName, stageNames } from '@heddle/contracts'
import { closeLater } from '@heddle/test-support/closing'
import { logLevel, PROJECT } from '../place.js'
import { GATEWAY_PORT } from './haproxy.js'
import type { Host } from './host.js'
import { FAKETIME_LIBRARY } from './requirements.js'
import { Service } from './service.js'

const HEALTH_PORTS = [4690, 4691] as const
/** Shared by two gateways, and by each stage. */
const SERVICES = new URL('../../../../services/', import.meta.url)

export interface ServicesOptions {
  readonly gateways: readonly Host[]
  readonly stages: ReadonlyMap<StageName, Host>
  /** Addresses of the servers. */
  readonly env: Readonly<Record<string, string>>
  /** The host name under which the gateways are reached. */
  readonly door: string
  readonly say: (line: string) => void
}

/** The gateways, and a worker for each stage. */
export class Services {
  readonly gateways: readonly Service[]
  readonly stages: ReadonlyMap<StageName, Service>
  readonly #hosts: ReadonlyMap<StageName, Host>

  constructor({ gateways, stages, env, door, say }: ServicesOptions) {
    const shared = { ...env, HEDDLE_PROJECT: PROJECT, HEDDLE_EMBEDDER: 'hashing', HEDDLE_LOG_LEVEL: serviceLogLevel }
    this.#hosts = stages
    this.gateways = gateways.map((host) => {
      const own = { HEDDLE_HOST: '0.0.0.0', HEDDLE_HOSTS: `${door},${host.address}` }
      const env = { ...shared, ...own }
      const port = { ports: [GATEWAY_PORT] as const, portVariable: 'HEDDLE_PORT' }
      return new Service({ host, script: programOf('gateway'), env, ...port, say })
    })
    this.stages = new Map(
      [...stages].map(([stage, host]) => {
        // Its host is a machine of its own, so it gives way to no other.
        const own = { HEDDLE_HEALTH_HOST: '0.0.0.0', HEDDLE_WORKERS_NICENESS: '0', ...clockOf(host) }
        const env = { ...shared, ...own }
        const port = { ports: HEALTH_PORTS, portVariable: 'HEDDLE_HEALTH_PORT' }
        return [stage, new Service({ host, script: programOf(stage), env, ...port, say })]
      }),
    )
    closeLater(async () => {
      for (const service of this.all) service.stop()
    })
  }

  get all(): readonly Service[] {
    return [...this.gateways, ...this.stages.values()]
  }

  async whenReady(): Promise<void> {
    await Promise.all(this.all.map((service) => service.whenReady()))
  }

  /** Moves the clock of a worker; 0 sets it right again. */
  async moveClock(stage: StageName, bySeconds: number): Promise<void> {
    const host = this.#hosts.get(stage)
    if (host !== undefined) await setClock(host, bySeconds)
  }
}

/** Sets the clocks of workers, which have to exist before they start. */
export async function prepareClocks(stages: ReadonlyMap<StageName, Host>): Promise<void> {
  await Promise.all([...stages.values()].map((host) => setClock(host, 0)))
}

export function stageHosts(hosts: readonly Host[]): ReadonlyMap<StageName, Host> {
  return new Map(stageNames.flatMap((stage, index) => (hosts[index] === undefined ? [] : [[stage, hosts[index]]])))
}

/** A cluster's outages fill the logs, so they are kept for runs whose cause of failure is looked for. */
const serviceLogLevel = logLevel

function programOf(service: string): string {
  return fileURLToPath(new URL(`${service}/dist/main.js`, SERVICES))
}

function clockFileOf({ folder }: Host): string {
  return join(folder, 'clock')
}

function clockOf(host: Host): Record<string, string> {
  return {
    LD_PRELOAD: FAKETIME_LIBRARY,
    FAKETIME_TIMESTAMP_FILE: clockFileOf(host),
    FAKETIME_CACHE_DURATION: '1',
    // Jumps of the wall clock do not change the monotonic one.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
}

async function setClock(host: Host, bySeconds: number): Promise<void> {
  await writeFile(clockFileOf(host), `${bySeconds < 0 ? '' : '+'}${bySeconds}`)
}
