import { Availability, Conversation } from '@heddle/client/adapters'
import { entrySchemaOf, type MessageDraft, readForm } from '@heddle/client/forms'
import type { AiSdkMessage } from '@heddle/contracts'
import type { HeddleOptions } from './options.js'
import { type PromptMessage, toModelMessage } from './prompt.js'

export interface Assembled {
  readonly contextId: string
  readonly system: string | null
  readonly messages: readonly AiSdkMessage[]
}

/** The reply of a model, in the parts of its interface. */
export interface Reply {
  readonly content: readonly Readonly<Record<string, unknown>>[]
  readonly model: string | undefined
  readonly usage: Readonly<Record<string, number>> | undefined
  readonly contextId: string | undefined
}

const CONSEQUENCE = 'The model gets its messages as they are, until Heddle is back.'
const entrySchema = entrySchemaOf('ai-sdk')

/** A thread that prompts and replies of the AI SDK are stored in. */
export class PromptThread {
  readonly #thread: string
  readonly #conversation: Conversation

  constructor(options: HeddleOptions) {
    this.#thread = options.thread
    this.#conversation = new Conversation(options, new Availability(options, CONSEQUENCE))
  }

  /** Stores what is new in a prompt, and builds its context; null while Heddle is away. */
  async assemble(prompt: readonly PromptMessage[]): Promise<Assembled | null> {
    const context = await this.#conversation.assemble(this.#read(prompt), 'ai-sdk')
    return context === null ? null : { contextId: context.id, system: context.system, messages: context.messages }
  }

  async store({ content, model, usage, contextId }: Reply): Promise<void> {
    const [draft] = this.#read([{ role: 'assistant', content }])
    if (draft === undefined || (draft.content === '' && draft.toolCalls === undefined)) return
    const message = { ...draft, ...(model !== undefined && { model }), ...(usage !== undefined && { usage }) }
    await this.#conversation.add(message, contextId)
  }

  #read(prompt: readonly PromptMessage[]): MessageDraft[] {
    const entries = prompt.map((message) => entrySchema.parse(toModelMessage(message)))
    return readForm('ai-sdk', this.#thread, entries).map(({ message }) => message)
  }
}
