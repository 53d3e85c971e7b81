import { saidIn } from '@heddle/client/adapters'
import type { MessageDraft } from '@heddle/client/forms'
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { draftOf } from './drafts.js'

/** How the summary of earlier messages begins. */
const SUMMARY = '[Earlier conversation summary:'

interface Part {
  readonly type: string
  readonly mediaType?: string
  readonly data?: string
  readonly url?: string
}

/** A message of a context in Heddle's own format. */
type Shown = Omit<MessageDraft, 'parts'> & { readonly parts?: readonly Part[] }

/**
 * The messages of a context for a model. Those that it shows verbatim are the given ones, with everything that only their
 * provider knows; the others are made from their texts and calls.
 *
 * @param given the messages that the agent would have sent without Heddle
 */
export function assembledMessages(shown: readonly object[], given: readonly BaseMessage[]): BaseMessage[] {
  const bySaid = new Map<string, BaseMessage[]>()
  for (const message of given) {
    const draft = draftOf(message)
    if (draft === null) continue
    const said = saidIn(draft)
    bySaid.set(said, [...(bySaid.get(said) ?? []), message])
  }
  // From the end: of messages that say the same, a context has the newest.
  return (shown as readonly Shown[])
    .toReversed()
    .map((message) => bySaid.get(saidIn(message))?.pop() ?? messageOf(message))
    .toReversed()
}

function messageOf({
  role,
  content,
  parts = [],
  toolCalls = [],
  toolCallId = '',
  toolName,
  isError,
}: Shown): BaseMessage {
  if (role === 'tool_result') {
    const name = toolName === undefined ? {} : { name: toolName }
    const status = isError ? 'error' : 'success'
    return new ToolMessage({ content: contentOf(content, parts), tool_call_id: toolCallId, status, ...name })
  }
  if (role === 'user') return new HumanMessage({ content: contentOf(content, parts) })
  if (role !== 'system') return new AIMessage({ content, tool_calls: toolCalls.map(callOf) })
  // Most providers accept system messages only at the beginning, and a summary is no instruction.
  return new HumanMessage({ content })
}

function callOf({ id, name, arguments: given }: NonNullable<Shown['toolCalls']>[number]) {
  return { type: 'tool_call' as const, id, name, args: typeof given === 'string' ? parsed(given) : given }
}

function parsed(given: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(given)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : { input: value }
  } catch {
    return { unparsed_arguments: given }
  }
}

function contentOf(text: string, parts: readonly Part[]) {
  const images = parts.flatMap(({ type, mediaType = 'image/png', data, url }) => {
    const address = url ?? (data === undefined ? undefined : `data:${mediaType};base64,${data}`)
    return type === 'image' && address !== undefined
      ? [{ type: 'image_url' as const, image_url: { url: address } }]
      : []
  })
  return images.length === 0 ? text : [{ type: 'text' as const, text }, ...images]
}

/** The instructions of Heddle's agent, which a context begins with, apart from the conversation. */
export function splitInstructions(shown: readonly object[]): {
  readonly instructions: readonly string[]
  readonly conversation: readonly object[]
} {
  const messages = shown as readonly Shown[]
  const first = messages.findIndex(({ role, content }) => role !== 'system' || content.startsWith(SUMMARY))
  const count = first < 0 ? messages.length : first
  return {
    instructions: messages.slice(0, count).map(({ content }) => content),
    conversation: messages.slice(count),
  }
}
