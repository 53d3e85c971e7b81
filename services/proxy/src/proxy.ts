import type { IncomingMessage, ServerResponse } from 'node:http'
import { newId } from '@heddle/client/calls'
import type { ProxyMode } from '@heddle/contracts'
import { defaultReplacementPolicy, type ReplacementPolicy, RequestReader } from '@heddle/core'
import { type Clock, type Logger, systemClock } from '@heddle/runtime'
import type { ProxyBackend } from './backend.js'
import { answerCompaction } from './compaction/answer-compaction.js'
import { ConversationStates } from './conversation/conversation-states.js'
import { Conversations } from './conversation/conversations.js'
import type { Door } from './door.js'
import type { ExchangeDeps } from './exchange/deps.js'
import { exchange } from './exchange/exchange.js'
import { MemoryBudget } from './memory-budget.js'
import { ProxyMetrics } from './metrics.js'
import { SettingsModes } from './modes/settings-modes.js'
import { Recorder } from './record/recorder.js'
import { Connections } from './relay/connections.js'
import { sendError } from './relay/errors.js'
import { headersForUpstream } from './relay/headers.js'
import { relay } from './relay/relay.js'
import { RequestBody } from './relay/request-body.js'
import { nameIn, type Target, targetOf } from './routes/target.js'
import { type UpstreamConfig, upstreamsOf } from './routes/upstreams.js'

export interface ProxyOptions {
  /** By the first part of the path under which each is served. */
  readonly upstreams: Readonly<Record<string, UpstreamConfig>>
  /** Longest time that a request waits for Heddle itself, in milliseconds; then it is sent on as it came. Default 50. */
  readonly lateMs?: number
  /** The mode of requests for which nobody else names one. Default `observe`. */
  readonly mode?: ProxyMode | undefined
  /** The share of conversations that stay unchanged for comparison, 0 to 1. Default 0. */
  readonly control?: number | undefined
  /** Sizes of what is replaced. Default: those of the core. */
  readonly policy?: Partial<ReplacementPolicy> | undefined
  /** Where conversations are stored; null while that is being opened. Default: nothing is stored. */
  backend?(): ProxyBackend | null
  readonly log: Logger
  readonly clock?: Clock
}

/** The drop-in door: serves the protocols of providers under paths such as `/anthropic` and `/openai/v1`. */
export interface ProviderProxy {
  /** Whether the proxy serves the path of a request. */
  takes(url: string): boolean
  /** Answers a request; never throws, and never rejects. */
  handle(request: IncomingMessage, response: ServerResponse, door: Door): void
  /** In the format of Prometheus. */
  readMetrics(): Promise<string>
  close(): Promise<void>
}

/** Bytes kept of requests that are relayed unread, to send them again if a kept connection has just ended. */
const REPEATED_BYTES_MAX = 64 * 1024
const COPIES_BYTES_MAX = 256 * 1024 * 1024
const LATE_MS = 50

export function createProxy(options: ProxyOptions): ProviderProxy {
  const { log, clock = systemClock, lateMs = LATE_MS } = options
  const upstreams = upstreamsOf(options.upstreams)
  const connections = new Connections()
  const memory = new MemoryBudget(COPIES_BYTES_MAX)
  const metrics = new ProxyMetrics({ heldBytes: () => memory.bytes })
  const backend = options.backend ?? (() => null)
  const reader = new RequestReader()
  const states = new ConversationStates({ reader, metrics, clock, log, lateMs, backend })
  const deps: ExchangeDeps = {
    connections,
    conversations: new Conversations(() => `proxy-${newId()}`),
    states,
    reader,
    recorder: new Recorder({ metrics, log, clock, backend }),
    memory,
    metrics,
    policy: { ...defaultReplacementPolicy, ...options.policy },
    settingsModes: new SettingsModes({ metrics, clock, log, lateMs, backend }),
    mode: options.mode ?? 'observe',
    control: options.control ?? 0,
    lateMs,
    clock,
    log,
    backend,
  }

  async function answer(request: IncomingMessage, response: ServerResponse, door: Door): Promise<void> {
    const startedMs = clock.monotonicMs()
    const { method = 'GET', url = '/' } = request
    const target = targetOf(upstreams, { method, url })
    const protocol = upstreams.get(nameIn(url))?.protocol ?? 'openai'
    const entry = await door.enter(request, response, lateMs)
    if ('status' in entry) {
      metrics.refused(entry.status === 401 ? 'key' : 'access')
      return sendError(response, protocol, { ...entry, code: 'refused', message: entry.detail })
    }
    if (target === null) {
      metrics.refused('path')
      return sendError(response, protocol, { status: 400, code: 'path', message: 'The path leaves its upstream.' })
    }
    if (target.isCompaction) await answerCompaction(deps, { request, response, project: entry.project })
    else if (target.protocol === null) relayUnread(request, response, target, startedMs)
    else {
      const { project, proxyMode: keyMode } = entry
      await exchange(deps, { request, response, target, protocol: target.protocol, project, keyMode, startedMs })
    }
  }

  function relayUnread(request: IncomingMessage, response: ServerResponse, target: Target, startedMs: number): void {
    const { upstream } = target
    const copy = memory.open()
    const body = new RequestBody(request, { bytesMax: REPEATED_BYTES_MAX, reserve: copy.reserve })
    response.once('close', () => {
      body.forget()
      copy.release()
    })
    metrics.sent(upstream.name, clock.monotonicMs() - startedMs)
    relay(connections, response, {
      target,
      method: request.method ?? 'GET',
      headers: headersForUpstream({ raw: request.rawHeaders, host: upstream.host }),
      body,
      onHead({ statusCode = 0 }) {
        metrics.replied(upstream.name, 'other', statusCode, clock.monotonicMs() - startedMs)
        return {}
      },
      onEnd(end) {
        if (end === 'unreachable') metrics.unreachable(upstream.name)
      },
    })
  }

  return {
    takes: (url) => upstreams.has(nameIn(url)),
    handle(request, response, door) {
      answer(request, response, door).catch((error: unknown) => {
        log.error({ error }, 'a request to the proxy failed')
        const protocol = upstreams.get(nameIn(request.url ?? '/'))?.protocol ?? 'openai'
        sendError(response, protocol, { status: 500, code: 'internal', message: 'Heddle failed unexpectedly.' })
      })
    },
    readMetrics: () => metrics.read(),
    async close() {
      connections.close()
      await states.flush()
    },
  }
}
