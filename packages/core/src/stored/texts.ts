import type { Message } from '../conversation/message.js'
import { messageReference } from '../conversation/references.js'

/** Shorter texts cost less than their names. */
const NAMED_CHARACTERS_MIN = 12

/** The names of texts stored elsewhere, by text: a stored context contains the name instead. */
export type TextNames = Pick<ReadonlyMap<string, string>, 'get'>

/** The agent's current version, whose texts are immutable, too. */
export interface AgentTexts {
  readonly systemPrompt: string
  readonly docs: readonly { readonly name: string; readonly text: string }[]
}

/** The texts of a thread's messages. A thread that only grew has its earlier texts named once. */
export class ThreadTexts {
  readonly names = new Map<string, string>()
  readonly seqs = new Set<number>()
  #messages: readonly Message[] = []

  /** Names the texts of these messages, and no others. */
  update(messages: readonly Message[]): void {
    if (!this.#messages.every((message, at) => message === messages[at])) {
      this.names.clear()
      this.seqs.clear()
      this.#messages = []
    }
    for (const message of messages.slice(this.#messages.length)) {
      this.seqs.add(message.seq)
      for (const [index, text] of messageTexts(message).entries()) put(this.names, text, `m${message.seq}.${index}`)
    }
    this.#messages = messages
  }
}

function put(names: Map<string, string>, text: string, name: string): void {
  if (text.length >= NAMED_CHARACTERS_MIN) names.set(text, name)
}

/** `m12.0`: the first text of message 12 of the thread; `a0`: the first text of the agent's version; `q`: the user's new message. */
export function nameTexts(
  { names: ofThread }: Pick<ThreadTexts, 'names'>,
  agent: AgentTexts,
  request: { readonly message?: string | undefined },
): TextNames {
  const own = new Map<string, string>()
  for (const [index, text] of agentTexts(agent).entries()) put(own, text, `a${index}`)
  if (request.message !== undefined) put(own, request.message, 'q')
  return { get: (text) => own.get(text) ?? ofThread.get(text) }
}

/** The message whose text a name stands for; null for a text of the agent or of the request. */
export function seqOfName(name: string): number | null {
  return name.startsWith('m') ? Number.parseInt(name.slice(1), 10) : null
}

/**
 * The texts of a message, always at the same indexes: stored names depend on them. Calls are included both as one text
 * and by the texts in them, since providers take either.
 */
export function messageTexts(message: Message): string[] {
  return [
    message.content,
    message.id,
    messageReference(message.code),
    message.toolCallId ?? '',
    message.toolName ?? '',
    ...message.toolCalls.flatMap((call) => [call.id, JSON.stringify(call.arguments), ...leaves(call.arguments)]),
    ...message.thinking.flatMap((block) => [block.text, block.signature ?? '', block.redacted ?? '']),
  ]
}

export function agentTexts({ systemPrompt, docs }: AgentTexts): string[] {
  return [systemPrompt, ...docs.flatMap((doc) => [doc.text, `Document "${doc.name}":\n\n${doc.text}`])]
}

function leaves(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(leaves)
}
