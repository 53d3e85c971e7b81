import { type AdapterOptions, Availability, Conversation } from '@heddle/client/adapters'
import { entrySchemaOf, type MessageDraft, readForm } from '@heddle/client/forms'
import type { AiSdkMessage } from '@heddle/contracts'
import type { HeddleOptions } from './options.js'
import { type PromptMessage, type SpecificationVersion, toModelMessage, toPromptMessage } from './prompt.js'

export interface Assembled {
  readonly contextId: string
  readonly system: string | null
  readonly messages: readonly AiSdkMessage[]
}

export interface ReplyFacts {
  readonly model: string | undefined
  readonly usage: Readonly<Record<string, number>> | undefined
  /** The context that the model got. */
  readonly contextId: string | undefined
}

/** The reply of a model, in the parts of its interface. */
export interface Reply extends ReplyFacts {
  readonly content: readonly Readonly<Record<string, unknown>>[]
}

const CONSEQUENCE = 'The model gets its messages as they are, until Heddle is back.'
const entrySchema = entrySchemaOf('ai-sdk')

/** A thread that prompts and replies of the AI SDK are stored in. */
export class PromptThread {
  readonly #thread: string
  readonly #conversation: Conversation

  /** @param availability of the Heddle that other threads use, too */
  constructor(options: HeddleOptions, availability = promptAvailability(options)) {
    this.#thread = options.thread
    this.#conversation = new Conversation(options, availability)
  }

  /**
   * Stores what is new in a request, and replaces its conversation by a context; instructions at the beginning stay as they
   * are. Null while Heddle is away, and if there are only instructions.
   */
  async replace(
    prompt: readonly PromptMessage[],
    version: SpecificationVersion,
  ): Promise<{ readonly prompt: PromptMessage[]; readonly contextId: string } | null> {
    const first = prompt.findIndex(({ role }) => role !== 'system')
    const assembled = first < 0 ? null : await this.assemble(prompt.slice(first))
    if (assembled === null) return null
    const { system, messages, contextId } = assembled
    const ours = system === null ? [] : [{ role: 'system', content: system }]
    const shown = messages.map((message) => toPromptMessage(message, version))
    return { prompt: [...prompt.slice(0, first), ...ours, ...shown], contextId }
  }

  /** Stores what is new in a prompt, and builds its context; null while Heddle is away. */
  async assemble(prompt: readonly PromptMessage[]): Promise<Assembled | null> {
    const context = await this.#conversation.assemble(this.#read(prompt), 'ai-sdk')
    return context === null ? null : { contextId: context.id, system: context.system, messages: context.messages }
  }

  async store({ content, contextId, ...facts }: Reply): Promise<void> {
    const [draft] = this.#read([{ role: 'assistant', content }])
    if (draft === undefined || (draft.content === '' && draft.toolCalls === undefined)) return
    await this.#conversation.add(withFacts(draft, facts), contextId)
  }

  /** Stores what is new in messages that end with a reply. */
  async storeAll(messages: readonly PromptMessage[], { contextId, ...facts }: Partial<ReplyFacts> = {}): Promise<void> {
    const drafts = this.#read(messages.filter(({ content }) => !Array.isArray(content) || content.length > 0))
    const last = drafts.at(-1)
    const reply = last?.role === 'assistant' ? [withFacts(last, facts)] : []
    await this.#conversation.store([...drafts.slice(0, drafts.length - reply.length), ...reply], { contextId })
  }

  #read(prompt: readonly PromptMessage[]): MessageDraft[] {
    const entries = prompt.map((message) => entrySchema.parse(toModelMessage(message)))
    return readForm('ai-sdk', this.#thread, entries).map(({ message }) => message)
  }
}

function withFacts(draft: MessageDraft, { model, usage }: Partial<ReplyFacts>): MessageDraft {
  return { ...draft, ...(model !== undefined && { model }), ...(usage !== undefined && { usage }) }
}

/** Threads of one agent share it, so that an outage is reported once. */
export function promptAvailability(options: AdapterOptions): Availability {
  return new Availability(options, CONSEQUENCE)
}
