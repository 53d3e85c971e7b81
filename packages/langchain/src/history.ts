import {
  type AdapterClient,
  Availability,
  BUDGET_DEFAULT,
  clientOf,
  DEADLINE_MS_DEFAULT,
} from '@heddle/client/adapters'
import { isJsonObject, type MessageDraft } from '@heddle/client/forms'
import { jsonObjectSchema, type MessageEntry } from '@heddle/contracts'
import { BaseListChatMessageHistory } from '@langchain/core/chat_history'
import { type BaseMessage, mapStoredMessagesToChatMessages, SystemMessage } from '@langchain/core/messages'
import { v5, v7 } from 'uuid'
import { assembledMessages, splitInstructions } from './assembled.js'
import { draftOf } from './drafts.js'
import type { HeddleOptions } from './options.js'

export interface HeddleHistoryOptions extends Omit<HeddleOptions, 'thread'> {
  readonly thread: string
}

type NewMessage = MessageDraft & { readonly id: string }

const NAMESPACE = '2c0a1f4e-7f0b-5c55-8a34-5f0f7d0f6b92'
const CONSEQUENCE = 'The history goes on in memory, and stores what was said when Heddle is back.'
/** Messages at the end that are returned with everything that only LangChain knows; older ones have texts and calls. */
const EXACT_MAX = 200

/**
 * A chat message history: `getMessages` returns a context within a budget, and everything is stored. A clear begins another
 * thread (docs/decisions/2026-11-26-a-session-takes-back-in-a-new-thread.md).
 */
export class HeddleChatMessageHistory extends BaseListChatMessageHistory {
  lc_namespace = ['heddle', 'langchain']
  readonly #client: AdapterClient
  readonly #availability: Availability
  readonly #options: HeddleHistoryOptions
  #thread: string | null = null
  #messages: BaseMessage[] = []
  readonly #changes: (() => Promise<void>)[] = []

  constructor(options: HeddleHistoryOptions) {
    super()
    this.#options = options
    this.#client = clientOf(options)
    this.#availability = new Availability(options, CONSEQUENCE)
  }

  /** The conversation within the budget. While Heddle is away: as it was last known, and what was said since. */
  async getMessages(): Promise<BaseMessage[]> {
    await this.#availability.attempt(async () => {
      await this.#store()
      this.#thread = await this.#newestThread()
      this.#messages = await this.#build(this.#thread)
    })
    return [...this.#messages]
  }

  async addMessage(message: BaseMessage): Promise<void> {
    await this.addMessages([message])
  }

  override async addMessages(messages: BaseMessage[]): Promise<void> {
    this.#messages.push(...messages)
    const stored = messages.flatMap((message): NewMessage[] => {
      const draft = draftOf(message)
      return draft === null ? [] : [{ ...draft, id: v7(), ...metadataOf(message) }]
    })
    await this.#change(async () => {
      if (stored.length > 0) await this.#append(await this.#currentThread(), stored)
    })
  }

  /** Begins an empty history; the one before stays stored until its thread is erased. */
  override async clear(): Promise<void> {
    this.#messages = []
    const code = v7()
    await this.#change(async () => {
      const first = this.#options.thread
      const thread = `${first}~${v5(code, NAMESPACE).slice(0, 8)}`
      const metadata = { history: { continued: thread } }
      await this.#append(first, [
        { id: code, role: 'approval', content: `The history goes on in ${thread}.`, metadata },
      ])
      this.#thread = thread
    })
  }

  async #change(store: () => Promise<void>): Promise<void> {
    this.#changes.push(store)
    await this.#availability.attempt(() => this.#store())
  }

  async #store(): Promise<void> {
    for (let [store] = this.#changes; store !== undefined; [store] = this.#changes) {
      await store()
      this.#changes.shift()
    }
  }

  async #append(thread: string, messages: readonly NewMessage[]): Promise<void> {
    const { agent, deadlineMs = DEADLINE_MS_DEFAULT } = this.#options
    await this.#client.messages.append({ agent, thread, messages, newAgentRollingWindow: null, deadlineMs })
  }

  async #currentThread(): Promise<string> {
    this.#thread ??= await this.#newestThread()
    return this.#thread
  }

  async #newestThread(): Promise<string> {
    const first = this.#options.thread
    const [newest] = await this.#list(first, 1)
    const mark = newest?.metadata?.['history']
    return isJsonObject(mark) && typeof mark['continued'] === 'string' ? mark['continued'] : first
  }

  async #build(thread: string): Promise<BaseMessage[]> {
    const entries = await this.#list(thread, EXACT_MAX)
    if (entries.length === 0) return []
    const { agent, budget = BUDGET_DEFAULT, deadlineMs = DEADLINE_MS_DEFAULT } = this.#options
    const request = { agent, thread, budget, format: 'neutral', rollingWindow: null } as const
    const { messages } = await this.#client.contexts.build(request, { deadlineMs })
    const { instructions, conversation } = splitInstructions(messages)
    const exact = entries.toReversed().flatMap((entry) => exactMessage(entry))
    return [...instructions.map((text) => new SystemMessage(text)), ...assembledMessages(conversation, exact)]
  }

  async #list(thread: string, limit: number): Promise<readonly MessageEntry[]> {
    try {
      return (await this.#client.messages.list({ thread, limit, order: 'desc' })).items
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'NOT_FOUND') return []
      throw error
    }
  }
}

/** The message as LangChain stores it, unless its text and its role are all that it has. */
function metadataOf(message: BaseMessage): Pick<MessageDraft, 'metadata'> {
  const { type, data } = message.toDict()
  const fields = Object.entries(data).filter(([name, value]) => name !== 'content' && !isBlank(value))
  const isPlain = fields.length === 0 && typeof message.content === 'string' && (type === 'human' || type === 'ai')
  return isPlain ? {} : { metadata: { history: jsonObjectSchema.parse(JSON.parse(JSON.stringify({ type, data }))) } }
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}

function exactMessage({ metadata }: MessageEntry): BaseMessage[] {
  const kept = metadata?.['history']
  if (!isJsonObject(kept) || typeof kept['type'] !== 'string' || !isJsonObject(kept['data'])) return []
  return mapStoredMessagesToChatMessages([{ type: kept['type'], data: kept['data'] as never }])
}
