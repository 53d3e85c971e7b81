import type { StageName } from '@heddle/contracts'
import type { Gateway, GatewayBackend } from '@heddle/gateway'
import type { Engine, EngineNeeds } from '@heddle/host'
import { type Config, limitHeapGrowth } from '@heddle/runtime'
import { InterruptedError } from '../output/failure.js'
import type { CommandContext } from './context.js'
import { openServiceLog } from './service-log.js'
import { untilAborted } from './with-engine.js'

export interface ServedGateway extends Pick<Gateway, 'url' | 'port'> {
  /** Whether other machines can send requests. */
  readonly isOpenToOthers: boolean
}

export interface HttpService {
  readonly command: string
  /** The stages that run in this process beside the gateway. */
  readonly stages: readonly StageName[]
  readonly needs: Pick<EngineNeeds, 'lasting' | 'threads' | 'migrate'>
  /** Called once the port is bound, before the engine opens, which may take seconds. */
  listening?(port: number): Promise<void>
  /** Called once requests are served; returns the function that reports this to the user. */
  ready(engine: Engine, gateway: ServedGateway): Promise<() => void>
  /** Called once the engine has closed, while `/healthz` is still answered. */
  closed?(): Promise<void>
}

/** Serves HTTP until the command is stopped: with stages beside it, or alone. */
export async function serveHttp(context: CommandContext, config: Config, service: HttpService): Promise<void> {
  const { command, stages } = service
  limitHeapGrowth()
  let engine: Engine | null = null
  let backend: GatewayBackend | null = null
  const serviceLog = openServiceLog(context, config, { command, workers: stages })
  const { log } = serviceLog
  const { gatewayBackendOf } = await import('@heddle/host/gateway')
  const { isOpenToOthers, startGateway } = await import('@heddle/gateway')
  const gateway = await startGateway({
    host: config.host,
    hosts: config.hosts,
    port: config.port,
    project: config.project,
    identity: { pid: process.pid, dataDir: config.dataDir },
    log,
    backend: () => backend,
  })
  try {
    await service.listening?.(gateway.port)
    const { openEngine } = await import('@heddle/host')
    context.printer.note('starting ...')
    engine = await openEngine({
      context,
      config,
      log,
      needs: {
        ...service.needs,
        stages,
        workers: 'always',
        reconcile: stages.length > 0,
        onSettled: gateway.recordTry,
      },
    })
    backend = gatewayBackendOf(engine)
    const { url, port } = gateway
    const tellReady = await service.ready(engine, { url, port, isOpenToOthers: isOpenToOthers(config) })
    serviceLog.ready({ port, host: config.host })
    tellReady()
    await untilAborted(context.signal)
  } catch (error) {
    // A stop signal is the normal end of this command.
    if (!(error instanceof InterruptedError)) throw error
  } finally {
    serviceLog.stopping()
    // Running requests need the engine; until it is closed, /healthz shows that this process is alive.
    await gateway.drain()
    await engine?.close()
    await service.closed?.()
    await gateway.close()
    serviceLog.stopped()
  }
}
