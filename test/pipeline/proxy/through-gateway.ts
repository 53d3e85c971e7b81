import { createClient, type RemoteClient } from '@heddle/client/http'
import { createProxy, type ProxyOptions } from '@heddle/proxy'
import { createLogger } from '@heddle/runtime'
import { startWireServer, type WireServer } from '@heddle/test-support/servers/wire-server'
import { openHome, type Ran } from '../cli/cli-support.js'
import { type Served, serve } from '../doors/http-support.js'
import type { Pipeline } from '../support.js'
import { storingIn } from './proxy-support.js'

/** A proxy in its gateway, and all other doors to the same project. */
export interface ThroughGateway {
  /** The provider. */
  readonly upstream: WireServer
  readonly http: Served
  readonly client: RemoteClient
  /** Runs `heddle` beside the store. */
  heddle(...args: string[]): Promise<Ran>
}

export async function throughGateway(
  pipeline: Pipeline,
  project: string,
  work: (through: ThroughGateway) => Promise<void>,
  options: Partial<ProxyOptions> = {},
): Promise<void> {
  const upstream = await startWireServer()
  const proxy = createProxy({
    upstreams: { anthropic: { url: upstream.url, protocol: 'anthropic' } },
    log: createLogger({ level: 'silent', name: 'test' }),
    backend: storingIn(pipeline),
    lateMs: 20_000,
    ...options,
  })
  const http = await serve(pipeline, { project, mount: proxy })
  const home = await openHome({ ...pipeline.environment, HEDDLE_PROJECT: project })
  const heddle = (...args: string[]) => home.heddle(...args)
  try {
    await work({ upstream, http, client: createClient({ url: http.url }), heddle })
  } finally {
    await http.gateway.close()
    await proxy.close()
    await upstream.close()
  }
}
