import {
  ConflictError,
  type ErrorData,
  type IterationFields,
  type MessageInput,
  type OnUsedId,
} from '@heddle/contracts'
import { boundPlace, type PartToStore } from '@heddle/core'
import { type GivenIteration, IterationNumbers, type KnownNumbers } from '../iterations/iteration-plan.js'
import type { ContentElement } from '../sql/content-element.js'
import { isStorable, unstorableError } from '../sql/text.js'

/** A message with the values that ingest derived from it. */
export interface PreparedMessage {
  /** Without the bytes of its parts, which are in `parts`. */
  readonly input: Omit<MessageInput, 'parts'>
  /** Images, documents and sounds with their bytes; undefined if it has no such part. */
  readonly parts?: readonly PartToStore[]
  /** Of the output of an iteration, which is kept aside. */
  readonly iteration?: IterationFields | undefined
  /** Orders messages of the same time; it can count on across the appends of a client (`comparePositions` in core). */
  readonly ordinal: number
  /** Its position in the conversation, in milliseconds since 1970: proposed by the sender, and limited when it is planned. */
  readonly orderedAtMs: number
  readonly tokensEstimate: number
  /** `placedFingerprint` of the input: the same for a repeat, different for a conflict. */
  readonly fingerprint: string
  /** Only of a long content, which takes too long to encode while the thread is locked. */
  readonly contentElement?: ContentElement | undefined
  /** Only of a mark that a restore writes: the message that it shows again. */
  readonly restoresSeq?: number
}

/** Messages for one thread, stored together or not at all. */
export interface Append {
  readonly requestId: string
  /** Name of the agent; created if it does not exist. */
  readonly agent: string
  /** Name of the thread; created if it does not exist. */
  readonly thread: string
  /** Seconds of history that a new agent shows; null for all, undefined for the default. Ignored if the agent exists. */
  readonly newAgentRollingWindow?: number | null
  /** Default `refuse`. */
  readonly onUsedId?: OnUsedId | undefined
  readonly messages: readonly PreparedMessage[]
}

export interface AppendOutcome {
  readonly requestId: string
  readonly threadId: string
  /** Messages that this append added. */
  readonly stored: number
  /** Messages that were stored before with the same fields. */
  readonly repeated: number
  /** The append added the sequence numbers from `fromSeq` to `headSeq`; an empty range if it added nothing. */
  readonly fromSeq: number
  readonly headSeq: number
  /** Estimated tokens of the whole thread after this append. */
  readonly tokensEstimate: number
  /** The reason why nothing of this append was stored; null on success. Other appends of the batch are not affected. */
  readonly error: ErrorData | null
}

export interface NamedAppend extends Append {
  readonly agentId: string
  readonly threadId: string
}

/** A thread while its cursor row is locked. */
export interface LockedThread {
  /** Physical place of the cursor row (`ctid`), constant until the end of the transaction. */
  readonly place: string
  readonly agentId: string
  readonly headSeq: number
  readonly tokensEstimate: number
  readonly latestAtMs: number | null
  /** When an earlier thread of the same name was erased, in milliseconds since 1970. Default null: never. */
  readonly erasedAtMs?: number | null
}

export interface PlannedMessage {
  readonly threadId: string
  readonly seq: number
  /** The latest position of the thread up to this message, if that is another message's; else null. */
  readonly latestAtMs: number | null
  /** Only of an iteration. */
  readonly iterationNumber?: number | null
  readonly message: PreparedMessage
}

export interface AppendPlan {
  readonly outcomes: AppendOutcome[]
  readonly messages: PlannedMessage[]
  /** The threads that grow, after the append. */
  readonly threads: ReadonlyMap<string, LockedThread>
}

export interface AppendSituation {
  /** By the clock of the database, which all processes share: one with a wrong clock must not reorder a conversation. */
  readonly receivedAtMs: number
  readonly threads: ReadonlyMap<string, LockedThread>
  /**
   * The fingerprints of messages that are stored, by thread and id: an id is the key of a message within its thread, since
   * a copy of a conversation keeps the ids of the original.
   */
  readonly known: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** Stored iterations with ids and numbers of the batch, by thread. Default: none. */
  readonly iterations?: ReadonlyMap<string, KnownNumbers>
  /** Ids of projects, agents and threads that were erased. */
  readonly erased: ReadonlySet<string>
  /** Messages of the batch that were erased with an earlier thread of the same name, by thread. Default: empty. */
  readonly erasedMessages?: ReadonlyMap<string, ReadonlySet<string>>
  /** The source ids of messages of the batch that were erased one by one, by thread. Default: empty. */
  readonly erasedSources?: ReadonlyMap<string, ReadonlySet<string>>
  readonly projectId: string
}

/**
 * Decides what a batch of appends adds. Pure: the same rules hold between a message of the batch and a stored one as
 * between two messages of the batch, so it does not matter how appends are grouped.
 */
export function planAppends(appends: readonly NamedAppend[], situation: AppendSituation): AppendPlan {
  const shared = threadsOfSeveral(appends)
  /** Messages that earlier appends of the batch added to such threads. */
  const added = new Map<string, Map<string, string>>()
  const threads = new Map<string, LockedThread>()
  const numbersOf = new Map<string, IterationNumbers>()
  const messages: PlannedMessage[] = []
  const outcomes = appends.map((append): AppendOutcome => {
    const { requestId, threadId } = append
    const thread = threads.get(threadId) ?? situation.threads.get(threadId)
    const head = { headSeq: thread?.headSeq ?? 0, tokensEstimate: thread?.tokensEstimate ?? 0 }
    const nothing = { requestId, threadId, stored: 0, repeated: 0, fromSeq: head.headSeq + 1, ...head }
    const fault = faultOf(append, thread, situation)
    if (thread === undefined || fault !== null) return { ...nothing, error: fault ?? erased('thread', append.thread) }

    const stored = situation.known.get(threadId)
    const erasedSources = situation.erasedSources?.get(threadId)
    const addedBefore = added.get(threadId)
    const fresh = new Map<string, PreparedMessage>()
    let copied: IterationNumbers | undefined
    const numbers = () => {
      copied ??= numbersOf.get(threadId)?.copy() ?? new IterationNumbers(situation.iterations?.get(threadId))
      return copied
    }
    const numberOf = new Map<string, number>()
    for (const [index, message] of append.messages.entries()) {
      if (isErased(message, stored, erasedSources)) continue
      const { id } = message.input
      const same = fresh.get(id)?.fingerprint ?? addedBefore?.get(id) ?? stored?.get(id)
      const iteration = iterationOf(message)
      if (same === undefined) {
        fresh.set(id, message)
        const number = iteration && numbers().take(iteration)
        if (iteration && number === null) return { ...nothing, error: numberConflict(iteration, index) }
        if (number !== null) numberOf.set(id, number)
      } else if (append.onUsedId !== 'keep') {
        const isRepeat = same === message.fingerprint && (!iteration || numbers().isRepeat(iteration))
        if (!isRepeat) return { ...nothing, error: idConflict(id, index) }
      }
    }
    if (numberOf.size > 0) numbersOf.set(threadId, numbers())

    let { headSeq, tokensEstimate, latestAtMs } = thread
    for (const proposed of fresh.values()) {
      const message = { ...proposed, orderedAtMs: boundPlace(proposed.orderedAtMs, situation.receivedAtMs) }
      headSeq += 1
      tokensEstimate += message.tokensEstimate
      latestAtMs = Math.max(latestAtMs ?? message.orderedAtMs, message.orderedAtMs)
      messages.push({
        threadId,
        seq: headSeq,
        latestAtMs: latestAtMs > message.orderedAtMs ? latestAtMs : null,
        iterationNumber: numberOf.get(message.input.id) ?? null,
        message,
      })
    }
    if (shared.has(threadId)) {
      const ids = addedBefore ?? new Map<string, string>()
      for (const [id, { fingerprint }] of fresh) ids.set(id, fingerprint)
      added.set(threadId, ids)
    }
    if (fresh.size > 0) threads.set(threadId, { ...thread, headSeq, tokensEstimate, latestAtMs })
    const repeated = append.messages.length - fresh.size
    return { ...nothing, stored: fresh.size, repeated, headSeq, tokensEstimate, error: null }
  })
  return { outcomes, messages, threads }
}

function iterationOf({ input: { id }, iteration }: PreparedMessage): GivenIteration | null {
  return iteration === undefined ? null : { id, iteration }
}

const none: ReadonlySet<string> = new Set()

/** The fingerprint of the row of an erased message, which has no content to compare. */
export const ERASED_FINGERPRINT = ''

/** A message that was erased counts as a repeat, whatever its content: nothing of it is stored again. */
function isErased(
  { input: { id, sourceId } }: PreparedMessage,
  stored: ReadonlyMap<string, string> | undefined,
  erasedSources: ReadonlySet<string> = none,
): boolean {
  return stored?.get(id) === ERASED_FINGERPRINT || (sourceId !== undefined && erasedSources.has(sourceId))
}

/** Threads that more than one append of a batch writes to. */
function threadsOfSeveral(appends: readonly NamedAppend[]): ReadonlySet<string> {
  const seen = new Set<string>()
  const shared = new Set<string>()
  for (const { threadId } of appends) {
    if (seen.has(threadId)) shared.add(threadId)
    seen.add(threadId)
  }
  return shared
}

function faultOf(append: NamedAppend, thread: LockedThread | undefined, situation: AppendSituation): ErrorData | null {
  if (situation.erased.has(situation.projectId)) return erased('project', situation.projectId)
  if (situation.erased.has(append.agentId)) return erased('agent', append.agent)
  if (situation.erased.has(append.threadId)) return erased('thread', append.thread)
  if (thread !== undefined && thread.agentId !== append.agentId) return agentConflict(append).toJSON()
  return (thread && erasedBefore(append, thread, situation.erasedMessages?.get(append.threadId))) ?? textFault(append)
}

/** Messages that belonged or were sent to an erased thread of the same name are not stored under the new one. */
function erasedBefore(
  { requestId, thread: name, messages }: NamedAppend,
  { erasedAtMs = null }: LockedThread,
  erasedIds: ReadonlySet<string> = none,
): ErrorData | null {
  if (erasedAtMs === null) return null
  const index = messages.findIndex(({ input }) => erasedIds.has(input.id))
  const id = messages[index]?.input.id
  if (id !== undefined) {
    return new ConflictError(`message ${id} was erased with an earlier thread "${name}"`, {
      field: `messages.${index}.id`,
      received: id,
      facts: { [ERASED_BEFORE]: 'message' },
      hint: 'An erased message is not stored again; send it with a new id.',
    }).toJSON()
  }
  const sentAtMs = timeOfId(requestId)
  if (sentAtMs === null || sentAtMs >= erasedAtMs) return null
  return new ConflictError(`the messages were sent before an earlier thread "${name}" was erased`, {
    field: 'thread',
    received: name,
    facts: { [ERASED_BEFORE]: 'request' },
    hint: 'Messages for the erased thread are not stored. Send them again if the new thread shall contain them.',
  }).toJSON()
}

/** A fact of an error that concerns erased data: nothing of the request may be kept. */
export const ERASED_BEFORE = 'erasedBefore'

/** The time in an id of version 7, in milliseconds since 1970; null for ids of other versions. */
export function timeOfId(id: string): number | null {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7/i.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : null
}

/** Contents may hold any character; names and ids may not. */
export function textFault({
  agent,
  thread,
  messages,
}: Pick<Append, 'agent' | 'thread' | 'messages'>): ErrorData | null {
  const refuse = (field: string, text: string) => unstorableError(field, text).toJSON()

  if (!isStorable(agent)) return refuse('agent', agent)
  if (!isStorable(thread)) return refuse('thread', thread)
  for (const [index, { input, iteration }] of messages.entries()) {
    for (const field of ['cliUsed', 'modelUsed'] as const) {
      const text = iteration?.[field]
      if (text !== undefined && !isStorable(text)) return refuse(`messages.${index}.iteration.${field}`, text)
    }
    for (const field of ['sourceId', 'toolCallId', 'toolName', 'model'] as const) {
      const text = input[field]
      if (text !== undefined && !isStorable(text)) return refuse(`messages.${index}.${field}`, text)
    }
  }
  return null
}

export function agentConflict({ agent, thread }: { agent: string; thread: string }): ConflictError {
  return new ConflictError(`thread "${thread}" belongs to another agent than "${agent}"`, {
    field: 'agent',
    received: agent,
    hint: 'Use the agent to which the thread belongs, or another thread.',
  })
}

export function erasedError(kind: 'project' | 'agent' | 'thread', name: string): ConflictError {
  return new ConflictError(`${kind} "${name}" was erased`, {
    field: kind,
    received: name,
    hint:
      kind === 'project'
        ? 'An erased name is not used again; use another one.'
        : `An erased name is not used again. Use another one, or release this one for a new ${kind}: heddle ${kind}s delete NAME --reuse.`,
  })
}

function erased(kind: 'project' | 'agent' | 'thread', name: string): ErrorData {
  return erasedError(kind, name).toJSON()
}

function idConflict(id: string, index: number): ErrorData {
  return new ConflictError(`message id ${id} is used by another message in this thread`, {
    field: `messages.${index}.id`,
    received: id,
    hint: 'Give each message an id of its own; a repeat must be the same in every field.',
  }).toJSON()
}

function numberConflict({ iteration: { iterationNumber } }: GivenIteration, index: number): ErrorData {
  return new ConflictError(`iteration ${iterationNumber} of this thread is another iteration`, {
    field: `messages.${index}.iteration.iterationNumber`,
    received: String(iterationNumber),
    hint: 'Give each iteration its own id and number, or omit both.',
  }).toJSON()
}
