import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { Client } from '@heddle/client/interface'
import { type Gateway, type GatewayOptions, startGateway } from '@heddle/gateway'
import { proxyBackendOf } from '@heddle/host'
import { createProxy, type ProviderProxy, type ProxyBackend, type ProxyOptions } from '@heddle/proxy'
import { createLogger } from '@heddle/runtime'
import { startWireServer, type WireServer } from '@heddle/test-support/servers/wire-server'
import type { Pipeline } from '../support.js'

const silent = createLogger({ level: 'silent', name: 'test' })

export interface ProxiedServer {
  /** The provider. */
  readonly upstream: WireServer
  readonly gateway: Gateway
  readonly proxy: ProviderProxy
  /** The address of the proxy for Anthropic's SDK. */
  readonly anthropicUrl: string
  /** The address of the proxy for OpenAI's SDK. */
  readonly openAiUrl: string
}

interface Options {
  readonly proxy?: Partial<ProxyOptions>
  readonly gateway?: Partial<GatewayOptions>
  /** Address of the provider, if it is not the recording server. */
  readonly upstreamUrl?: string
}

/** A gateway with the proxy in it, in front of a recording server, without a store. */
export async function withProxy(work: (served: ProxiedServer) => Promise<void>, options: Options = {}): Promise<void> {
  const upstream = await startWireServer()
  const url = options.upstreamUrl ?? upstream.url
  const proxy = createProxy({
    upstreams: {
      anthropic: { url, protocol: 'anthropic' },
      openai: { url: `${url}/v1`, protocol: 'openai' },
    },
    log: silent,
    ...options.proxy,
  })
  const gateway = await startGateway({
    port: 0,
    project: 'tests',
    identity: {},
    log: silent,
    mount: proxy,
    backend: backendWith({ read: async () => null, hasAny: async () => false }),
    ...options.gateway,
  })
  try {
    await work({
      upstream,
      gateway,
      proxy,
      anthropicUrl: `${gateway.url}/anthropic`,
      openAiUrl: `${gateway.url}/openai/v1`,
    })
  } finally {
    await gateway.close()
    await proxy.close()
    await upstream.close()
  }
}

/** The part of a pipeline that a proxy stores in, with its clients changed. */
export function storingIn(
  { clientOf, store }: Pick<Pipeline, 'clientOf' | 'store'>,
  change: (client: Client) => Client = (client) => client,
): () => ProxyBackend {
  const backend = proxyBackendOf({ store, clientOf: (project) => change(clientOf(project)) })
  return () => backend
}

type Backend = NonNullable<ReturnType<GatewayOptions['backend']>>

/** A backend that knows keys and nothing else. */
export function backendWith(keys: Backend['keys']): () => Backend {
  return () => ({
    clientOf: () => ({}) as Client,
    keys,
    checkShare: () => {},
    readStageStats: async () => [],
    examine: async () => [],
    readModelCalls: () => new Map(),
    checkReady: async () => undefined,
  })
}

export interface RawAnswer {
  readonly status: number
  readonly statusText: string
  /** Names and values alternate. */
  readonly rawHeaders: readonly string[]
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

export interface RawCall {
  readonly method?: string
  /** Sent as it is, instead of that of the address. */
  readonly path?: string
  /** Instead of that of the address. */
  readonly host?: string
  /** Names and values alternate, sent exactly like this. */
  readonly headers?: readonly string[]
  readonly body?: string | Buffer
}

/** Sends a request over HTTP, without anything that a library would add or decode. */
export async function callRaw(url: string, call: RawCall = {}): Promise<RawAnswer> {
  const { hostname, port, host: ownHost, pathname, search } = new URL(url)
  const { method = 'POST', path = `${pathname}${search}`, host = ownHost, headers = [], body } = call
  const isChunked = headers.includes('Transfer-Encoding')
  const length = body === undefined || isChunked ? [] : ['Content-Length', String(Buffer.byteLength(body))]
  const lines = ['Host', host, ...headers, ...length]
  const sending = request({ hostname, port, path, method, headers: lines as string[], agent: false })
  sending.end(body)
  const [answer] = (await once(sending, 'response')) as [IncomingMessage]
  const parts: Buffer[] = []
  for await (const part of answer) parts.push(part as Buffer)
  const { statusCode = 0, statusMessage = '', rawHeaders } = answer
  return {
    status: statusCode,
    statusText: statusMessage,
    rawHeaders,
    headers: answer.headers,
    body: Buffer.concat(parts),
  }
}
