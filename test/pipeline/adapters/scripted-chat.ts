import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from 'langchain'
import { z } from 'zod'

type Reply = (messages: readonly BaseMessage[], count: number) => AIMessage

/** A chat model of LangChain that replies by a script, and records its requests. */
export class ScriptedChat extends BaseChatModel {
  readonly requests: BaseMessage[][] = []
  readonly #reply: Reply

  constructor(reply: Reply) {
    super({})
    this.#reply = reply
  }

  override _llmType(): string {
    return 'scripted'
  }

  override bindTools(): this {
    return this
  }

  override async _generate(messages: BaseMessage[]) {
    this.requests.push(messages)
    const message = this.#reply(messages, this.requests.length)
    return { generations: [{ text: message.text, message }] }
  }
}

export const says = (content: string) =>
  new AIMessage({
    content,
    usage_metadata: {
      input_tokens: 100,
      output_tokens: 10,
      total_tokens: 110,
      input_token_details: { cache_read: 40 },
    },
    response_metadata: { model_name: 'scripted-1' },
  })

export const calls = (...given: readonly { readonly id: string; readonly name: string; readonly args: object }[]) =>
  new AIMessage({
    content: '',
    tool_calls: given.map(({ args, ...call }) => ({ ...call, args: { ...args }, type: 'tool_call' as const })),
  })

/** Calls without a result right after them, and results without a call right before them. */
export function orphansInMessages(messages: readonly BaseMessage[]): string[] {
  let open = new Set<string>()
  const orphans: string[] = []
  for (const message of messages) {
    if (ToolMessage.isInstance(message)) {
      if (!open.delete(message.tool_call_id)) orphans.push(`result ${message.tool_call_id}`)
      continue
    }
    orphans.push(...[...open].map((id) => `call ${id}`))
    open = new Set(AIMessage.isInstance(message) ? message.tool_calls?.map(({ id = '' }) => id) : [])
  }
  return [...orphans, ...[...open].map((id) => `call ${id}`)]
}

/** A tool with a result of 150 words. */
export const look = tool(({ at }) => `${at}: ${'line '.repeat(150)}`, {
  name: 'look',
  description: 'Looks.',
  schema: z.object({ at: z.number() }),
})

/** The configuration of a run of a thread. */
export const run = (thread: string) => ({ configurable: { thread_id: thread }, recursionLimit: 100 })
