import { type StoredEpoch, storedEpochSchema } from '@heddle/contracts'
import {
  type ProviderRequest,
  proxiedResultReference,
  type RequestReader,
  restartedEpoch,
  resumeEpoch,
  storedEpochOf,
} from '@heddle/core'
import { type Clock, type Logger, within } from '@heddle/runtime'
import type { KnownState, ProxyBackend, StatePlace } from '../backend.js'
import type { ProxyMetrics } from '../metrics.js'
import type { Conversation } from './conversations.js'

export interface ConversationStatesOptions {
  readonly reader: RequestReader
  readonly metrics: ProxyMetrics
  readonly clock: Clock
  readonly log: Logger
  /** Longest time that a request waits for a state, in milliseconds. */
  readonly lateMs: number
  backend(): ProxyBackend | null
}

/** The request that a state is loaded for, by which it is read. */
export interface ReadBy {
  readonly request: ProviderRequest
  readonly body: Uint8Array
}

export interface FoundState {
  /** Null without a state, and while it is late. */
  readonly found: KnownState | null
  /** The state if a request cannot wait for it; null if it was found in time. */
  readonly late: Promise<KnownState | null> | null
}

/** Conversations whose states wait to be written; of more, the oldest are written with their next request. */
const UNWRITTEN_MAX = 1_000
const WRITES_AT_ONCE = 4
/** Longest text of the parts of a state whose size grows with the conversation; larger ones are not written. */
const PARTS_CHARACTERS_MAX = 4 * 1024 * 1024
/** After a failure the store is left alone for a while: while it is away, no request waits for it. */
const AWAY_MS = 2_000
const LOAD_MS_MAX = 5_000
const FLUSH_MS_MAX = 2_000

/**
 * The states of conversations in the store, by which other processes continue them. They are written after requests were
 * sent, the newest one of each conversation, in place of the version that this process knows.
 */
export class ConversationStates {
  readonly #options: ConversationStatesOptions
  readonly #unwritten = new Set<Conversation>()
  readonly #writing = new Map<Conversation, Promise<void>>()
  #awayUntilMs = Number.NEGATIVE_INFINITY
  #isRetrying = false

  constructor(options: ConversationStatesOptions) {
    this.#options = options
  }

  /** The stored state of a conversation that this process does not know. */
  async find(project: string, place: StatePlace): Promise<FoundState> {
    const loading = this.#load(project, place)
    if (loading === null) return { found: null, late: null }
    const { clock, lateMs, metrics } = this.#options
    const late = () => {
      metrics.state('late')
      return { found: null, late: loading }
    }
    return await within(
      loading.then((found) => ({ found, late: null })),
      { timeoutMs: lateMs, clock, late },
    )
  }

  /** Continues a conversation in its stored state. */
  resume(conversation: Conversation, found: KnownState, { request, body }: ReadBy): void {
    const { metrics, reader } = this.#options
    const { version, state, stubs, texts } = found
    const parsed = storedEpochSchema.safeParse({ state, stubs, texts })
    conversation.version = version
    conversation.written = null
    conversation.isBehind = false
    if (!parsed.success) {
      metrics.state('unreadable')
      return
    }
    const referenceOf = (callId: string) => proxiedResultReference(conversation.threadId, callId)
    conversation.epoch = resumeEpoch(parsed.data, { request, body, reader, referenceOf })
    conversation.marks = parsed.data.state.marks
    metrics.state(conversation.epoch.sentAtMs === 0 ? 'changed' : 'resumed')
  }

  /** Takes over what another process wrote of a conversation that this one knows, too. */
  async refresh(conversation: Conversation, by: ReadBy): Promise<void> {
    const { project, threadId, epoch } = conversation
    const { clock, lateMs, metrics } = this.#options
    const loading = this.#load(project, { kind: 'thread', threadId })
    if (loading === null) return
    const timeout = { timeoutMs: lateMs, clock, late: () => 'late' as const }
    const found = await within(loading, timeout)
    // Another request of the conversation was sent meanwhile.
    if (conversation.epoch !== epoch) return
    if (found === 'late') metrics.state('late')
    else if (found !== null && found.version > conversation.version) this.resume(conversation, found, by)
    else conversation.isBehind = false
  }

  /** Has the state of a conversation written soon. */
  save(conversation: Conversation): void {
    if (!this.#isKept()) return
    this.#unwritten.delete(conversation)
    this.#unwritten.add(conversation)
    const [oldest] = this.#unwritten
    if (this.#unwritten.size > UNWRITTEN_MAX && oldest !== undefined) {
      this.#unwritten.delete(oldest)
      this.#options.metrics.state('dropped')
    }
    this.#writeNext()
  }

  /** Resolves once all states are written, or after two seconds. */
  async flush(): Promise<void> {
    const { clock } = this.#options
    const written = async () => {
      while (this.#writing.size > 0) await Promise.all(this.#writing.values())
    }
    await within(written(), { timeoutMs: FLUSH_MS_MAX, clock, late: () => {} })
  }

  #isKept(): boolean {
    return this.#options.backend()?.states !== undefined
  }

  /** Null while nothing can be loaded; never rejects. */
  #load(project: string, place: StatePlace): Promise<KnownState | null> | null {
    const { backend, clock, metrics, log } = this.#options
    const states = backend()?.states
    if (states === undefined) return null
    if (clock.monotonicMs() < this.#awayUntilMs) {
      metrics.state('away')
      return null
    }
    const late = () => {
      throw new Error(`the store did not answer within ${LOAD_MS_MAX} ms`)
    }
    return within(states.load(project, place), { timeoutMs: LOAD_MS_MAX, late, clock }).catch((error: unknown) => {
      this.#awayUntilMs = clock.monotonicMs() + AWAY_MS
      metrics.state('load-failed')
      log.warn({ error }, 'the state of a conversation could not be loaded; the conversation begins anew')
      return null
    })
  }

  #writeNext(): void {
    const { clock } = this.#options
    for (const conversation of this.#unwritten) {
      if (this.#writing.size >= WRITES_AT_ONCE) return
      const waitMs = this.#awayUntilMs - clock.monotonicMs()
      if (waitMs > 0) {
        this.#retryAfter(waitMs)
        return
      }
      if (this.#writing.has(conversation) || conversation.isLoading) continue
      this.#unwritten.delete(conversation)
      const writing = this.#write(conversation).finally(() => {
        this.#writing.delete(conversation)
        this.#writeNext()
      })
      this.#writing.set(conversation, writing)
    }
  }

  #retryAfter(waitMs: number): void {
    if (this.#isRetrying) return
    this.#isRetrying = true
    this.#options.clock.after(waitMs, () => {
      this.#isRetrying = false
      this.#writeNext()
    })
  }

  /** Never rejects. */
  async #write(conversation: Conversation): Promise<void> {
    const { backend, clock, metrics, log } = this.#options
    const { epoch, marks, project, thread, threadId, version, session, written } = conversation
    const states = backend()?.states
    if (states === undefined || epoch === null || marks === null) return
    const stored = storedEpochOf(epoch, marks)
    const changed = {
      ...(isSame(written?.stubs, epoch.stubs) ? {} : { stubs: stored.stubs }),
      ...(written?.cover === epoch.cover && isSame(written.expansions, epoch.expansions)
        ? {}
        : { texts: stored.texts }),
    }
    if (JSON.stringify(changed).length > PARTS_CHARACTERS_MAX) return metrics.state('too-large')
    const { session: named = null, begin = null, instructions = null } = session ?? {}
    try {
      const saved = await states.save(project, {
        threadId,
        thread,
        chain: conversation.isNamed ? null : marks.received.chain,
        session: named,
        begin,
        instructions,
        version,
        state: stored.state,
        ...changed,
      })
      metrics.state(saved.kind)
      if (saved.kind === 'saved') {
        conversation.version = saved.version
        conversation.written = epoch
      } else if (saved.kind === 'gone') this.#forget(conversation)
      else this.#settle(conversation, saved, stored)
    } catch (error) {
      this.#awayUntilMs = clock.monotonicMs() + AWAY_MS
      metrics.state('save-failed')
      log.warn({ error }, 'the state of a conversation could not be saved; it is tried again')
      this.#unwritten.add(conversation)
    }
  }

  /** The process that sent last is right: its state is written, and the other one loads it for its next request. */
  #settle(
    conversation: Conversation,
    { version, sentAtMs }: { readonly version: number; readonly sentAtMs: number },
    { state }: StoredEpoch,
  ): void {
    if (sentAtMs > state.sentAtMs) {
      conversation.isBehind = true
      return
    }
    conversation.version = version
    conversation.written = null
    this.#unwritten.add(conversation)
  }

  /** Texts of what was erased must not be sent or stored again: the next request begins a new epoch. */
  #forget(conversation: Conversation): void {
    conversation.epoch = conversation.epoch === null ? null : restartedEpoch(conversation.epoch)
    conversation.prepared = null
    conversation.version = 0
    conversation.written = null
  }
}

/** Parts of an epoch that stay the same are the same objects in the next one. */
function isSame(one: readonly object[] | undefined, other: readonly object[]): boolean {
  return one?.length === other.length && one.every((each, index) => each === other[index])
}
