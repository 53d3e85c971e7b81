import type { MessageInput } from '@heddle/contracts'
import { canonicalJson, importedMessageId, messageFingerprint } from '@heddle/core'
import { type HistoryMessage, loadMessage } from '@heddle/store'
import { fingerprintsOf } from './looking.js'
import type { ClientParts } from './options.js'

/*
 * An agent's reply that is imported while the agent still writes it: the next import finds it longer than it was stored,
 * under the same id. What is stored is never changed, so what was added since becomes a message of its own, right after it.
 */

/** Imports of one message while it grows, each a little longer. */
const CONTINUATIONS_MAX = 1_000

export interface Continued {
  readonly messages: readonly MessageInput[]
  /** Messages that had grown since they were stored. */
  readonly grown: number
}

/**
 * Replaces messages that have grown since an earlier import by what was added since; where that is nothing but the
 * provider's figures, by nothing. All others stay as they are, also those that contradict what is stored.
 */
export async function continueGrown(
  parts: Pick<ClientParts, 'store' | 'projectId'>,
  threadId: string,
  messages: readonly MessageInput[],
): Promise<Continued> {
  const replies = messages.filter(({ role }) => role === 'assistant')
  const stored = await fingerprintsOf(
    parts,
    threadId,
    replies.map(({ id }) => id),
  )
  const continued = new Map<string, MessageInput[]>()
  for (const reply of replies) {
    const fingerprint = stored.get(reply.id)
    if (fingerprint === undefined || isSame(fingerprint, reply)) continue
    const added = await additionsTo(parts, threadId, reply)
    if (added !== null) continued.set(reply.id, added)
  }
  return { messages: messages.flatMap((message) => continued.get(message.id) ?? [message]), grown: continued.size }
}

/** @returns the message that is to be sent, if any; null where the reply is none that has grown */
async function additionsTo(
  { store, projectId }: Pick<ClientParts, 'store' | 'projectId'>,
  threadId: string,
  reply: MessageInput,
): Promise<MessageInput[] | null> {
  return await store.inProject(projectId, async (tx) => {
    let rest = reply
    for (let count = 1; count <= CONTINUATIONS_MAX; count++) {
      const before = await loadMessage(tx, { threadId, id: rest.id })
      if (before === null) return [rest]
      const left = restOf(before, rest, importedMessageId(threadId, `${reply.id} continued ${count}`))
      // Another message altogether: for ingest to refuse, by name.
      if (left === null) return null
      if (isEmpty(left)) return []
      rest = left
    }
    return null
  })
}

/**
 * What a message holds beyond an earlier form of it, as a message that continues that; null where it is no longer form.
 */
export function restOf(
  before: Pick<HistoryMessage, 'role' | 'content' | 'thinking' | 'toolCalls'>,
  grown: MessageInput,
  id: string,
): MessageInput | null {
  const { content, thinking = [], toolCalls = [], ...others } = grown
  const isLonger =
    before.role === grown.role &&
    content.startsWith(before.content) &&
    isBeginning(before.thinking, thinking) &&
    isBeginning(before.toolCalls, toolCalls)
  if (!isLonger) return null
  const thinkingLeft = thinking.slice(before.thinking.length)
  const callsLeft = toolCalls.slice(before.toolCalls.length)
  return {
    ...others,
    id,
    // An empty line joins the texts of one message; between two messages there is none.
    content: content.slice(before.content.length).replace(/^\n\n/, ''),
    ...(thinkingLeft.length > 0 && { thinking: thinkingLeft }),
    ...(callsLeft.length > 0 && { toolCalls: callsLeft }),
  }
}

function isBeginning(before: readonly unknown[], now: readonly unknown[]): boolean {
  return canonicalJson(now.slice(0, before.length)) === canonicalJson(before)
}

function isEmpty({ content, thinking, toolCalls }: MessageInput): boolean {
  return content === '' && thinking === undefined && toolCalls === undefined
}

function isSame(fingerprint: string, message: MessageInput): boolean {
  return fingerprint === messageFingerprint(message)
}
