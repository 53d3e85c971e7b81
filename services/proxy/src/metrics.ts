import { priceOf, pricesOf } from '@heddle/core'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** Seconds: from less than a fast upstream to a model that thinks for minutes. */
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600]
const ADDED_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.2, 1]

/** A request as it was planned and sent. */
export interface CountedRequest {
  readonly mode: string
  readonly request: { readonly protocol: 'anthropic' | 'openai-chat' | 'openai-responses'; readonly model: string }
  readonly plan: { readonly tokens: { readonly received: number; readonly sent: number } }
}

export interface CountedUsage {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
}

/** The outcomes of reads (the first two rows) and of writes of a conversation's state. */
export type StateOutcome =
  | 'resumed'
  | 'changed'
  | 'unreadable'
  | 'late'
  | 'away'
  | 'load-failed'
  | 'saved'
  | 'replaced'
  | 'gone'
  | 'too-large'
  | 'save-failed'
  | 'dropped'

export interface ProxyMetricsOptions {
  /** Bytes that are copied at this moment. */
  heldBytes(): number
}

/** Metrics of the proxy, in the format of Prometheus. No label holds anything that a caller chose. */
export class ProxyMetrics {
  readonly #registry = new Registry()
  readonly #requests: Counter<'upstream' | 'protocol' | 'status'>
  readonly #firstByte: Histogram<'upstream'>
  readonly #added: Histogram<'upstream'>
  readonly #refused: Counter<'reason'>
  readonly #unreachable: Counter<'upstream'>
  readonly #passed: Counter<'reason'>
  readonly #recorded: Counter<'outcome'>
  readonly #messages: Counter<'outcome'>
  readonly #tokens: Counter<'mode' | 'kind'>
  readonly #cost: Counter<'mode'>
  readonly #covers: Counter<'outcome'>
  readonly #states: Counter<'outcome'>
  readonly #compactions: Counter<'outcome'>
  readonly #modes: Counter<'reason'>
  readonly #recalls: Counter

  constructor({ heldBytes }: ProxyMetricsOptions) {
    const registers = [this.#registry]
    this.#requests = new Counter({
      name: 'heddle_proxy_requests_total',
      help: 'Replies of upstreams, by the status that they sent',
      labelNames: ['upstream', 'protocol', 'status'],
      registers,
    })
    this.#firstByte = new Histogram({
      name: 'heddle_proxy_first_byte_seconds',
      help: 'Time from the request to the head of the reply of the upstream',
      labelNames: ['upstream'],
      buckets: SECONDS,
      registers,
    })
    this.#added = new Histogram({
      name: 'heddle_proxy_added_seconds',
      help: 'Time that the proxy took before it sent the request on',
      labelNames: ['upstream'],
      buckets: ADDED_SECONDS,
      registers,
    })
    this.#refused = new Counter({
      name: 'heddle_proxy_refused_total',
      help: 'Requests that were not sent on: of foreign pages, without a key, or for no upstream',
      labelNames: ['reason'],
      registers,
    })
    this.#unreachable = new Counter({
      name: 'heddle_proxy_unreachable_total',
      help: 'Requests that ended without a reply of the upstream',
      labelNames: ['upstream'],
      registers,
    })
    this.#passed = new Counter({
      name: 'heddle_proxy_passed_total',
      help: 'Requests of conversations that were relayed unread or unchanged against their mode, by reason',
      labelNames: ['reason'],
      registers,
    })
    this.#recorded = new Counter({
      name: 'heddle_proxy_recorded_total',
      help: 'Exchanges by whether their messages were stored; those that were not are stored with the next request',
      labelNames: ['outcome'],
      registers,
    })
    this.#messages = new Counter({
      name: 'heddle_proxy_messages_total',
      help: 'Messages of conversations that were sent to be stored, or refused',
      labelNames: ['outcome'],
      registers,
    })
    this.#tokens = new Counter({
      name: 'heddle_proxy_tokens_total',
      help: 'Tokens: estimated ones received and sent, and those that providers counted',
      labelNames: ['mode', 'kind'],
      registers,
    })
    this.#cost = new Counter({
      name: 'heddle_proxy_cost_dollars_total',
      help: 'Cost of requests to models with known prices, by the counts of their providers',
      labelNames: ['mode'],
      registers,
    })
    this.#covers = new Counter({
      name: 'heddle_proxy_covers_total',
      help: 'Summaries that were prepared for a conversation: prepared, unusable or failed',
      labelNames: ['outcome'],
      registers,
    })
    this.#states = new Counter({
      name: 'heddle_proxy_states_total',
      help: 'States of conversations that were loaded from the store or saved there, by outcome',
      labelNames: ['outcome'],
      registers,
    })
    this.#compactions = new Counter({
      name: 'heddle_proxy_compactions_total',
      help: 'Calls of POST /responses/compact that Heddle answered, refused, or could not answer',
      labelNames: ['outcome'],
      registers,
    })
    this.#modes = new Counter({
      name: 'heddle_proxy_modes_unknown_total',
      help: 'Requests whose mode was not read from the settings of their agent, by reason',
      labelNames: ['reason'],
      registers,
    })
    this.#recalls = new Counter({
      name: 'heddle_proxy_recalls_total',
      help: 'Calls of the tool heddle_recall that the proxy answered',
      registers,
    })
    new Gauge({
      name: 'heddle_proxy_held_bytes',
      help: 'Bytes of requests and replies that are copied at this moment',
      registers,
      collect() {
        this.set(heldBytes())
      },
    })
  }

  replied(upstream: string, protocol: string, status: number, firstByteMs: number): void {
    this.#requests.inc({ upstream, protocol, status: String(status) })
    this.#firstByte.observe({ upstream }, firstByteMs / 1_000)
  }

  sent(upstream: string, addedMs: number): void {
    this.#added.observe({ upstream }, addedMs / 1_000)
  }

  refused(reason: string): void {
    this.#refused.inc({ reason })
  }

  unreachable(upstream: string): void {
    this.#unreachable.inc({ upstream })
  }

  passed(reason: string): void {
    this.#passed.inc({ reason })
  }

  recorded(outcome: 'stored' | 'failed' | 'store-away' | 'queue-full' | 'row-lost'): void {
    this.#recorded.inc({ outcome })
  }

  messages(sent: number, refused: number): void {
    if (sent > 0) this.#messages.inc({ outcome: 'sent' }, sent)
    if (refused > 0) this.#messages.inc({ outcome: 'refused' }, refused)
  }

  covered(outcome: 'prepared' | 'unusable' | 'failed'): void {
    this.#covers.inc({ outcome })
  }

  state(outcome: StateOutcome): void {
    this.#states.inc({ outcome })
  }

  compacted(outcome: 'answered' | 'refused' | 'failed'): void {
    this.#compactions.inc({ outcome })
  }

  modeUnknown(reason: 'late' | 'failed' | 'away'): void {
    this.#modes.inc({ reason })
  }

  recalled(calls: number): void {
    this.#recalls.inc(calls)
  }

  exchanged({ mode, request, plan }: CountedRequest, usage: CountedUsage | null): void {
    this.#tokens.inc({ mode, kind: 'received' }, plan.tokens.received)
    this.#tokens.inc({ mode, kind: 'sent' }, plan.tokens.sent)
    if (usage === null) return
    this.#tokens.inc({ mode, kind: 'input' }, usage.input)
    this.#tokens.inc({ mode, kind: 'cache-read' }, usage.cacheRead)
    this.#tokens.inc({ mode, kind: 'cache-write' }, usage.cacheWrite)
    this.#tokens.inc({ mode, kind: 'output' }, usage.output)
    const { prices, isKnown } = pricesOf(request.protocol, request.model)
    if (isKnown) this.#cost.inc({ mode }, priceOf(prices, usage))
  }

  read(): Promise<string> {
    return this.#registry.metrics()
  }
}
