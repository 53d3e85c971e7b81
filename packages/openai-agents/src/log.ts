import type { AdapterClient } from '@heddle/client/adapters'
import type { ContextResult, MessageEntry } from '@heddle/contracts'
import type { AgentInputItem } from '@openai/agents-core'
import { v5 } from 'uuid'
import { type Shown, type Stored, shownLines } from './assembled.js'
import { KeptMessages } from './kept-messages.js'
import { type Mark, markOf, messagesOf, type NewMessage, type Operation, readMark } from './records.js'

const NAMESPACE = '8d4f8f0b-4d0a-5a63-9d3c-2f1f0f5a9b71'
const PAGE = 100
const WHOLE_PAGE = 500

export interface Built {
  readonly messages: readonly Shown[]
  /** In the order of the history. */
  readonly verbatim: readonly { readonly seq: number; readonly stored: Stored }[]
  readonly known: readonly Stored[]
  /** Whether the context shows the whole history verbatim. */
  readonly isWhole: boolean
}

export interface Tail {
  readonly items: readonly AgentInputItem[]
  readonly isWhole: boolean
}

/**
 * The history of a session in threads. Appends go to the newest thread. Where items were taken back or replaced, the history
 * goes on in another thread, and a mark in the first one says in which
 * (docs/decisions/2026-11-26-a-session-takes-back-in-a-new-thread.md).
 */
export class SessionLog {
  readonly #client: AdapterClient
  readonly #agent: string
  readonly #first: string
  readonly #budget: number
  readonly #deadlineMs: number
  #thread: string
  #generation = 0
  #clearedAt = 0
  /** Items at the end of the thread that were taken back. */
  #undone = 0
  #isLocated = false
  readonly #kept: KeptMessages

  constructor(
    client: AdapterClient,
    { agent, session, budget, deadlineMs }: { agent: string; session: string; budget: number; deadlineMs: number },
  ) {
    this.#client = client
    this.#kept = new KeptMessages(client)
    this.#agent = agent
    this.#first = session
    this.#thread = session
    this.#budget = budget
    this.#deadlineMs = deadlineMs
  }

  /** Finds the newest thread, and what was taken back at its end; another process may have gone on. */
  async locate(): Promise<void> {
    const [newest] = await this.#page(this.#first, { limit: 1 })
    const { generation, thread, clearedAt } = (newest && readMark(newest).continued) ?? {
      generation: 0,
      thread: this.#first,
      clearedAt: 0,
    }
    const end = thread === this.#first && newest === undefined ? [] : await this.#page(thread, { limit: PAGE })
    this.#thread = thread
    this.#generation = generation
    this.#clearedAt = clearedAt
    const first = end.findIndex((entry) => readMark(entry).undone !== true)
    this.#undone = first < 0 ? end.length : first
    this.#isLocated = true
  }

  async append(items: readonly AgentInputItem[], base: string, operation?: Operation): Promise<void> {
    await this.settle(base)
    const source = operation === undefined ? undefined : { ...operation, sourceId: this.#sourceOf(operation.id) }
    const { messages, stored } = messagesOf(items, (index) => v5(`${index}`, base), source)
    if (source !== undefined && messages.length === 0) {
      messages.push(markOf(v5('0', base), 'A transaction without items.', { operation }, source.sourceId))
    }
    await this.#send(this.#thread, messages)
    for (const each of stored) this.#kept.keep(each)
  }

  /** Takes the last item back. */
  async undo(base: string): Promise<void> {
    await this.#ready()
    await this.#send(this.#thread, [markOf(v5('undo', base), 'The last item was taken back.', { undone: true })])
    this.#undone++
  }

  /** Goes on in another thread if items of this one were taken back. */
  async settle(base: string): Promise<void> {
    await this.#ready()
    if (this.#undone === 0) return
    await this.replace(await this.all(), v5('settle', base))
  }

  /** Goes on with other items, in another thread; what was there before stays in its thread. */
  async replace(
    items: readonly AgentInputItem[],
    base: string,
    { operation, isClear = false }: { operation?: Operation; isClear?: boolean } = {},
  ): Promise<void> {
    await this.#ready()
    const generation = this.#generation + 1
    const thread = `${this.#first}~${generation}-${v5('thread', base).slice(0, 8)}`
    const { messages, stored } = messagesOf(items, (index) => v5(`${index}`, v5(thread, base)))
    if (messages.length > 0) await this.#send(thread, messages)
    const clearedAt = isClear ? generation : this.#clearedAt
    const mark: Mark = { continued: { generation, thread, clearedAt }, ...(operation !== undefined && { operation }) }
    const source = operation === undefined ? undefined : this.#sourceOf(operation.id)
    // Of two processes that go on at once, the second finds another message under this id.
    const id = v5(`generation ${generation}`, v5(this.#first, NAMESPACE))
    await this.#send(this.#first, [markOf(id, `The history goes on in ${thread}.`, mark, source)])
    this.#thread = thread
    this.#generation = generation
    this.#clearedAt = clearedAt
    this.#undone = 0
    for (const each of stored) this.#kept.keep(each)
  }

  /** The transaction of this id that was applied since the last clear, or null. */
  async applied(id: string): Promise<Operation | null> {
    await this.#ready()
    const sourceId = this.#sourceOf(id)
    const found = await this.#client.messages.find({ sourceId, agent: this.#agent }).catch(emptyIfUnknown)
    for (const entry of found.items) {
      const { operation, continued } = readMark(entry)
      const generation = continued?.generation ?? this.#generationOf(entry.thread)
      if (operation !== undefined && generation !== null && generation >= this.#clearedAt) return operation
    }
    return null
  }

  /** All items, however many. */
  async all(): Promise<AgentInputItem[]> {
    await this.#ready()
    const items: AgentInputItem[] = []
    let cursor: string | undefined
    do {
      const page = await this.#client.messages
        .list({ thread: this.#thread, limit: WHOLE_PAGE, order: 'asc', ...(cursor !== undefined && { cursor }) })
        .catch(emptyIfUnknown)
      for (const stored of await this.#kept.read(this.#thread, page.items)) items.push(...stored.items)
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    return items.slice(0, items.length - this.#undone)
  }

  /** The newest items: at least as many, or all. */
  async tail(count: number): Promise<Tail> {
    await this.#ready()
    let items: AgentInputItem[] = []
    let cursor: string | undefined
    do {
      const page = await this.#client.messages
        .list({ thread: this.#thread, limit: PAGE, order: 'desc', ...(cursor !== undefined && { cursor }) })
        .catch(emptyIfUnknown)
      const stored = await this.#kept.read(this.#thread, page.items)
      items = [...stored.reverse().flatMap((each) => each.items), ...items]
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined && items.length < count + this.#undone)
    return { items: items.slice(0, items.length - this.#undone), isWhole: cursor === undefined }
  }

  /** A context of the thread within the budget; null for a thread without messages. */
  async build(): Promise<Built | null> {
    const request = { agent: this.#agent, thread: this.#thread, budget: this.#budget, format: 'neutral' } as const
    let context: ContextResult
    try {
      // A session has no window: the framework decides what belongs to it.
      context = await this.#client.contexts.build({ ...request, rollingWindow: null }, { deadlineMs: this.#deadlineMs })
    } catch (error) {
      if (codeOf(error) === 'NOT_FOUND' || (await this.#page(this.#thread, { limit: PAGE })).every(isMark)) return null
      throw error
    }
    const lines = shownLines(context.receipt.entries)
    const wanted = lines.map(({ messageId = '', fromSeq = 0 }) => ({ id: messageId, seq: fromSeq }))
    const known = await this.#kept.load(this.#thread, wanted)
    const raw = lines.filter(({ mode }) => mode === 'raw')
    const verbatim = raw
      .flatMap(({ messageId = '', fromSeq: seq = 0 }) => {
        const stored = known.get(messageId)
        return stored === undefined ? [] : [{ seq, stored }]
      })
      .sort((left, right) => left.seq - right.seq)
    const isWhole = verbatim.length === context.receipt.eligible
    return { messages: context.messages as unknown as Shown[], verbatim, known: [...known.values()], isWhole }
  }

  async #ready(): Promise<void> {
    if (!this.#isLocated) await this.locate()
  }

  #sourceOf(operation: string): string {
    return `session-operation ${v5(operation, v5(this.#first, NAMESPACE))}`
  }

  #generationOf(thread: string): number | null {
    if (thread === this.#first) return 0
    if (!thread.startsWith(`${this.#first}~`)) return null
    return Number.parseInt(thread.slice(this.#first.length + 1), 10)
  }

  async #send(thread: string, messages: readonly NewMessage[]): Promise<void> {
    await this.#client.messages.append({
      agent: this.#agent,
      thread,
      messages,
      newAgentRollingWindow: null,
      deadlineMs: this.#deadlineMs,
    })
  }

  async #page(thread: string, { limit }: { limit: number }): Promise<readonly MessageEntry[]> {
    return (await this.#client.messages.list({ thread, limit, order: 'desc' }).catch(emptyIfUnknown)).items
  }
}

function isMark({ role }: Pick<MessageEntry, 'role'>): boolean {
  return role === 'approval' || role === 'error'
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** A thread is created by its first message. */
function emptyIfUnknown(error: unknown): { items: readonly MessageEntry[]; nextCursor: null } {
  if (codeOf(error) !== 'NOT_FOUND') throw error
  return { items: [], nextCursor: null }
}
