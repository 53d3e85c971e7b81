import type { ContextFor, FormatName, MessageEntry } from '@heddle/contracts'
import type { MessageDraft } from '../forms/message-draft.js'
import { firstNew, firstUnknown, type Known, nextId, saidIn } from './align.js'
import type { Availability } from './availability.js'
import { type AdapterClient, type AdapterOptions, BUDGET_DEFAULT, clientOf, DEADLINE_MS_DEFAULT } from './options.js'

/** Messages at the end of the thread that a prompt is compared with. */
const TAIL_MAX = 100

export interface ConversationOptions extends AdapterOptions {
  readonly agent: string
  readonly thread: string
}

interface AppendOptions {
  /** The context that a reply answers. */
  readonly contextId?: string | undefined
  /** Of an agent that the append creates: null shows messages of all ages. */
  readonly newAgentRollingWindow?: null | undefined
}

type Identified = MessageDraft & { readonly id: string }

/** A thread that a model's prompts and replies are stored in, each message once. */
export class Conversation {
  readonly #options: ConversationOptions
  readonly #client: AdapterClient
  readonly #availability: Availability
  readonly #deadlineMs: number
  /** The end of the thread; null if it has to be read. */
  #tail: Known[] | null = null
  #isWhole = false

  /** @param availability of the Heddle that other conversations use, too */
  constructor(options: ConversationOptions, availability: Availability) {
    this.#options = options
    this.#client = clientOf(options)
    this.#availability = availability
    this.#deadlineMs = options.deadlineMs ?? DEADLINE_MS_DEFAULT
  }

  /** Stores what is new in a prompt, and builds its context; null while Heddle is away. */
  async assemble<Format extends FormatName>(
    prompt: readonly MessageDraft[],
    format: Format,
    budget = this.#options.budget ?? BUDGET_DEFAULT,
  ): Promise<ContextFor<{ thread: string; format: Format }> | null> {
    const { agent, thread } = this.#options
    return await this.#attempt(async () => {
      const append = await this.#newIn(prompt)
      const request = { agent, thread, budget, format }
      const context = await this.#client.contexts.build(append.length === 0 ? request : { ...request, append }, {
        deadlineMs: this.#deadlineMs,
      })
      this.#remember(append)
      return context
    })
  }

  /** Stores what is new in a prompt. While Heddle is away it is not stored; the next prompt has it. */
  async store(prompt: readonly MessageDraft[], appended: AppendOptions = {}): Promise<void> {
    await this.#attempt(async () => await this.#append(await this.#newIn(prompt), appended))
  }

  /** Stores a message after the last one. While Heddle is away it is not stored; the next prompt has it. */
  async add(message: MessageDraft, contextId?: string): Promise<void> {
    await this.#attempt(async () => {
      const previous = (await this.#readTail()).at(-1)?.id ?? null
      const id = nextId(this.#options.thread, previous, saidIn(message))
      await this.#append([{ ...message, id }], { contextId })
    })
  }

  async #append(messages: readonly Identified[], { contextId, newAgentRollingWindow }: AppendOptions): Promise<void> {
    if (messages.length === 0) return
    const { agent, thread } = this.#options
    await this.#client.messages.append({
      agent,
      thread,
      ...(contextId !== undefined && { contextId }),
      ...(newAgentRollingWindow !== undefined && { newAgentRollingWindow }),
      messages,
      deadlineMs: this.#deadlineMs,
    })
    this.#remember(messages)
  }

  async #attempt<Result>(work: () => Promise<Result>): Promise<Result | null> {
    const result = await this.#availability.attempt(work)
    // Messages of a failed request may be stored or not.
    if (result === null) this.#tail = null
    return result
  }

  async #newIn(drafts: readonly MessageDraft[]): Promise<Identified[]> {
    const tail = await this.#readTail()
    const said = drafts.map(saidIn)
    const identified = drafts.map(({ sourceId }, index) => ({ sourceId, said: said[index] ?? '' }))
    const first = firstUnknown(identified, tail) ?? firstNew(said, tail, this.#isWhole)
    let previous = tail.at(-1)?.id ?? null
    return drafts.slice(first).map((draft) => {
      const id = nextId(this.#options.thread, previous, saidIn(draft))
      previous = id
      return { ...draft, id }
    })
  }

  async #readTail(): Promise<readonly Known[]> {
    if (this.#tail !== null) return this.#tail
    try {
      const { thread } = this.#options
      const { items, nextCursor } = await this.#client.messages.list({ thread, limit: TAIL_MAX, order: 'desc' })
      this.#tail = items.map(knownOf).reverse()
      this.#isWhole = nextCursor === null
    } catch (error) {
      if (!isNotFound(error)) throw error
      this.#tail = []
      this.#isWhole = true
    }
    return this.#tail
  }

  #remember(messages: readonly Identified[]): void {
    const tail = [...(this.#tail ?? []), ...messages.map(knownOf)]
    if (tail.length > TAIL_MAX) this.#isWhole = false
    this.#tail = tail.slice(-TAIL_MAX)
  }
}

function knownOf(message: Identified | MessageEntry): Known {
  return { id: message.id, said: saidIn(message), sourceId: message.sourceId }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'NOT_FOUND'
}
