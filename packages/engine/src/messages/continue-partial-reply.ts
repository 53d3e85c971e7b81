import type { MessageInput } from '@heddle/contracts'
import { canonicalJson, importedMessageId, messageFingerprint } from '@heddle/core'
import { type HistoryMessage, loadMessage } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import { fingerprintsOf, storedOf } from './existing-messages.js'

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
  parts: Pick<EngineContext, 'store' | 'projectId'>,
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
    const added = await parts.store.inProject(parts.projectId, (tx) =>
      additionsTo((id) => loadMessage(tx, { threadId, id }), threadId, reply),
    )
    if (added !== null) continued.set(reply.id, added)
  }
  return continuedBy(messages, continued)
}

/**
 * Compares messages with what is stored under their ids. One that has grown since, as {@link continueGrown} finds it, is no
 * other.
 *
 * @throws ConflictError where an id is taken by another message
 */
export async function refuseChanged(
  parts: Pick<EngineContext, 'store' | 'projectId'>,
  threadId: string,
  messages: readonly MessageInput[],
): Promise<void> {
  const continued = await continueGrown(parts, threadId, messages)
  await storedOf(
    parts,
    threadId,
    continued.messages.map((message) => ({ message })),
  )
}

/** The id of what continues a message, the first time that it had grown, the second time and so on. */
export function continuationIdOf(threadId: string, id: string, count: number): string {
  return importedMessageId(threadId, `${id} continued ${count}`)
}

/**
 * The same for who sees the history of a thread and no store: a reply that stands in it whole is left out too.
 *
 * @param history the messages of the thread by id
 */
export async function continueGrownIn(
  history: ReadonlyMap<string, EarlierForm>,
  threadId: string,
  messages: readonly MessageInput[],
): Promise<Continued> {
  const continued = new Map<string, MessageInput[]>()
  for (const reply of messages) {
    if (reply.role !== 'assistant' || !history.has(reply.id)) continue
    const added = await additionsTo(async (id) => history.get(id) ?? null, threadId, reply)
    if (added !== null) continued.set(reply.id, added)
  }
  return continuedBy(messages, continued)
}

function continuedBy(messages: readonly MessageInput[], continued: ReadonlyMap<string, MessageInput[]>): Continued {
  return { messages: messages.flatMap((message) => continued.get(message.id) ?? [message]), grown: continued.size }
}

/** @returns the message that is to be sent, if any; null where the reply is none that has grown */
async function additionsTo(
  find: (id: string) => Promise<EarlierForm | null>,
  threadId: string,
  reply: MessageInput,
): Promise<MessageInput[] | null> {
  let rest = reply
  for (let count = 1; count <= CONTINUATIONS_MAX; count++) {
    const before = await find(rest.id)
    if (before === null) return [rest]
    const left = restOf(before, rest, continuationIdOf(threadId, reply.id, count))
    // Another message altogether: for ingest to refuse, by name.
    if (left === null) return null
    if (isEmpty(left)) return []
    rest = left
  }
  return null
}

/** What is compared of a message; a history leaves empty lists out. */
export type EarlierForm = Pick<HistoryMessage, 'role' | 'content'> &
  Partial<Pick<HistoryMessage, 'thinking' | 'toolCalls'>>

/**
 * What a message holds beyond an earlier form of it, as a message that continues that; null where it is no longer form.
 */
export function restOf(
  { thinking: thinkingBefore = [], toolCalls: callsBefore = [], ...before }: EarlierForm,
  grown: MessageInput,
  id: string,
): MessageInput | null {
  const { content, thinking = [], toolCalls = [], ...others } = grown
  const isLonger =
    before.role === grown.role &&
    content.startsWith(before.content) &&
    isBeginning(thinkingBefore, thinking) &&
    isBeginning(callsBefore, toolCalls)
  if (!isLonger) return null
  const thinkingLeft = thinking.slice(thinkingBefore.length)
  const callsLeft = toolCalls.slice(callsBefore.length)
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
