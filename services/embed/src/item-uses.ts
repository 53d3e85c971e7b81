import { replyTurns, usedItems } from '@heddle/core'
import {
  findOpenTurn,
  type HistoryMessage,
  type ItemUse,
  loadAnswered,
  recordItemUses,
  type Store,
} from '@heddle/store'

export interface ReadMessages {
  readonly projectId: string
  readonly threadId: string
  /** Messages up to it were processed before. */
  readonly afterSeq: number
  /** Ordered by sequence number. */
  readonly messages: readonly HistoryMessage[]
}

/**
 * Records which items of a context were used by replies that name the context. Done in this stage, because it reads each
 * message once and nobody waits for it.
 */
export async function noteItemUses(
  { store }: { readonly store: Store },
  { projectId, threadId, afterSeq, messages }: ReadMessages,
): Promise<void> {
  const unread = messages.filter(({ seq }) => seq > afterSeq)
  const [first] = unread
  // Without a message of the assistant, no turn starts or continues.
  if (first === undefined || unread.every(({ role }) => role !== 'assistant' && role !== 'tool_use')) return
  const mayBeOpen = first.role !== 'user' && first.contextId === null && first.seq > 1
  if (!mayBeOpen && replyTurns(unread, null).length === 0) return
  await store.inProject(projectId, async (tx) => {
    const open = mayBeOpen ? await findOpenTurn(tx, { threadId, beforeSeq: first.seq }) : null
    const turns = replyTurns(unread, open)
    const replies = [...new Map(turns.map(({ contextId, seq }) => [contextId, { contextId, seq }])).values()]
    const answered = new Map(
      (await loadAnswered(tx, { threadId, replies })).map((context) => [context.contextId, context]),
    )
    const uses = turns.flatMap(({ contextId, seq, messages: said }): ItemUse[] => {
      const context = answered.get(contextId)
      if (context === undefined) return []
      return [
        { contextId, answeredSeq: seq, usedIds: [...new Set(said.flatMap((message) => usedItems(context, message)))] },
      ]
    })
    await recordItemUses(tx, uses)
  })
}
