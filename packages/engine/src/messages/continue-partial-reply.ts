import type { MessageInput } from '@heddle/contracts'
import { canonicalJson, importedMessageId, messageFingerprint } from '@heddle/core'
import { ERASED_FINGERPRINT, type HistoryMessage, loadMessage } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import { fingerprintsOf, storedOf } from './existing-messages.js'

/*
 * A reply may be imported while the agent still writes it: the next import finds it longer, with the same id. Stored
 * messages never change, so the added part becomes a separate message right after the stored one.
 */

/** The most imports of one growing message. */
const CONTINUATIONS_MAX = 1_000

export interface Continued {
  readonly messages: readonly MessageInput[]
  /** The number of messages that had grown since they were stored. */
  readonly grown: number
}

/**
 * Replaces messages that have grown since an earlier import by the added part, and drops those to which only the provider's
 * figures were added. All others stay unchanged, including those that contradict the stored ones.
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
    if (fingerprint === undefined || fingerprint === ERASED_FINGERPRINT || isSame(fingerprint, reply)) continue
    const added = await parts.store.inProject(parts.projectId, (tx) =>
      additionsTo((id) => loadMessage(tx, { threadId, id }), threadId, reply),
    )
    if (added !== null) continued.set(reply.id, added)
  }
  return continuedBy(messages, continued)
}

/**
 * Compares messages with the stored ones of the same ids. A message that has grown, see {@link continueGrown}, is no conflict.
 *
 * @throws ConflictError if an id is used by another message
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

/** The id of the n-th continuation of a message. */
export function continuationIdOf(threadId: string, id: string, count: number): string {
  return importedMessageId(threadId, `${id} continued ${count}`)
}

/**
 * The same with the history of a thread instead of the store. A reply that the history contains completely is omitted, too.
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

/** @returns the messages to send, possibly none; null if the reply has not grown */
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
    // A different message: the ingest stage refuses it and names it.
    if (left === null) return null
    if (isEmpty(left)) return []
    rest = { ...left, ...sentAfter(reply, count) }
  }
  return null
}

/** A continuation has the time of its reply: a millisecond for each that came before keeps them in their order. */
function sentAfter({ sentAt }: MessageInput, count: number): Pick<MessageInput, 'sentAt'> {
  return sentAt === undefined ? {} : { sentAt: new Date(Date.parse(sentAt) + count).toISOString() }
}

/** The compared fields of a message. A history omits empty lists. */
export type EarlierForm = Pick<HistoryMessage, 'role' | 'content'> &
  Partial<Pick<HistoryMessage, 'thinking' | 'toolCalls'>>

/**
 * The part that a message has in addition to an earlier form of it, as a separate message; null if it is not an extension.
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
    // An empty line separates the texts within a message, but not two messages.
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
