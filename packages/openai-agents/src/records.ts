import type { Json, MessageDraft } from '@heddle/client/forms'
import { isJsonObject } from '@heddle/client/forms'
import { jsonObjectSchema, type MessageEntry } from '@heddle/contracts'
import type { AgentInputItem } from '@openai/agents-core'
import { z } from 'zod'
import type { Stored } from './assembled.js'
import { draftsOf } from './items.js'
import { decodeItem, encodeItem } from './template.js'

/*
 * A session stores messages, with their items in `metadata.session`, and marks. A mark is a message of the role
 * `approval`, which no context shows.
 */

/** A transaction that was applied: the same id with other contents is refused. */
export const operationSchema = z.object({ id: z.string(), hash: z.string() })
export type Operation = z.infer<typeof operationSchema>

const markSchema = z.object({
  /** The last item was taken back. */
  undone: z.literal(true).optional(),
  /** The history goes on in another thread. */
  continued: z.object({ generation: z.int(), thread: z.string(), clearedAt: z.int() }).optional(),
  operation: operationSchema.optional(),
})
export type Mark = z.infer<typeof markSchema>

export type NewMessage = MessageDraft & { readonly id: string }

export function messagesOf(
  items: readonly AgentInputItem[],
  idAt: (index: number) => string,
  operation?: Operation & { readonly sourceId: string },
): { readonly messages: NewMessage[]; readonly stored: Stored[] } {
  const drafted = draftsOf(items)
  const stored = drafted.map(({ draft, items }, index) => ({ ...draft, id: idAt(index), items }))
  const messages = drafted.map(({ draft, items }, index) => {
    const session = { items: items.map((item) => encodeItem(item, draft)) }
    const first = index === 0 ? operation : undefined
    return {
      ...draft,
      id: idAt(index),
      ...(first !== undefined && { sourceId: first.sourceId }),
      metadata: {
        session: first === undefined ? session : { ...session, operation: { id: first.id, hash: first.hash } },
      },
    }
  })
  return { messages, stored }
}

export function markOf(id: string, content: string, mark: Mark, sourceId?: string): NewMessage {
  const metadata = { session: jsonObjectSchema.parse(mark) }
  return { id, role: 'approval', content, metadata, ...(sourceId !== undefined && { sourceId }) }
}

export function readMark(entry: Pick<MessageEntry, 'metadata'>): Mark {
  const read = markSchema.safeParse(entry.metadata?.['session'])
  return read.success ? read.data : {}
}

/**
 * A stored message with its items. One that was not appended by a session, such as a user's message from another program, has
 * the item that says the same.
 */
export async function readStored(
  entry: MessageEntry,
  recallPart: (reference: string) => Promise<string>,
): Promise<Stored | null> {
  const { id, role, content, metadata } = entry
  if (role === 'approval' || role === 'error') return null
  const session = metadata?.['session']
  const encoded: readonly Json[] | null =
    isJsonObject(session) && Array.isArray(session['items']) ? session['items'] : null
  if (encoded === null) return { id, role, content, items: foreignItems(entry) }
  const read = (part: number) => recallPart(entry.parts?.[part]?.reference ?? '')
  const items = await Promise.all(encoded.map((item) => decodeItem(item, entry, read)))
  return { id, role, content, items: items as AgentInputItem[] }
}

function foreignItems({
  role,
  content,
  toolCalls = [],
  toolCallId,
  toolName = 'function',
}: MessageEntry): AgentInputItem[] {
  if (role === 'tool_result') {
    const callId = toolCallId ?? ''
    return [{ type: 'function_call_result', callId, name: toolName, status: 'completed', output: content }]
  }
  if (role === 'user' || role === 'system') return [{ type: 'message', role, content }]
  const said: AgentInputItem[] =
    content.trim() === ''
      ? []
      : [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: content }] }]
  return [
    ...said,
    ...toolCalls.map(({ id, name, arguments: given }): AgentInputItem => {
      const text = typeof given === 'string' ? given : JSON.stringify(given)
      return { type: 'function_call', callId: id, name, status: 'completed', arguments: text }
    }),
  ]
}
