import {
  ConflictError,
  HeddleError,
  type IngestJob,
  limits,
  type MessageInput,
  messageCharacters,
  type PlacedMessage,
} from '@heddle/contracts'
import { messageFingerprint, proposePlaces, threadIdOf } from '@heddle/core'
import { existingMessages, loadThread } from '@heddle/store'
import { v7 } from 'uuid'
import { type AppendInput, readAppend } from './append-input.js'
import { type ClientParts, checkDeadline, DEADLINE_MS_DEFAULT } from './options.js'

/** A message to be appended; without an id it gets one, and is then a message of its own each time it is appended. */
export type NewMessage = Omit<MessageInput, 'id'> & { readonly id?: string }

export interface AppendOptions {
  readonly agent: string
  readonly thread: string
  readonly messages: readonly NewMessage[]
  /** `queued`: the queue has them; `stored`: they are committed. Only `stored` survives everything. Default `stored`. */
  readonly ack?: 'queued' | 'stored'
  /** How long to wait for `stored`, in milliseconds; what is not stored by then is sent again and again until then. */
  readonly deadlineMs?: number
  /** The rolling window, in seconds, of an agent that this append creates; null for none. */
  readonly newAgentRollingWindow?: number | null
  /** When the append began: the place in time of messages without `sentAt`. Default now. */
  readonly startedAtMs?: number
  readonly signal?: AbortSignal
  readonly onProgress?: (stored: number) => void
}

export interface AppendResult {
  readonly threadId: string
  /** Messages that this append added; with `ack: 'queued'` those that were sent. */
  readonly stored: number
  /** Messages that were stored before. */
  readonly repeated: number
}

/** Messages in one job: a hundred fill one insert well, and a lost job costs little to send again. */
const MESSAGES_PER_JOB = 100
/** Ids that one statement asks for. */
const IDS_PER_LOOK = 5_000
/** Jobs of one append under way at once. */
const JOBS_IN_FLIGHT_MAX = 16
/** How often a producer without an answer looks into the store. */
const LOOK_EVERY_MS = 2_000
/** A job that brought no answer for so long is sent again: it may have been lost with its queue. */
const RESEND_AFTER_MS = 5_000

/**
 * Appends messages to a thread, in their order, exactly once however often they are sent.
 *
 * @param tellProject makes sure that the store knows the project's name; not called for what cannot be appended
 * @throws PermanentError `VALIDATION_ERROR` that names the message and the field, before anything is sent
 * @throws ConflictError where an id is taken by another message
 * @throws RetryableError `TIMEOUT` where not all are known to be stored by the deadline; appending again is harmless
 */
export async function appendMessages(
  parts: ClientParts,
  options: AppendOptions,
  tellProject: () => Promise<void>,
): Promise<AppendResult> {
  const input = readAppend(options)
  if (options.ack !== 'queued') await tellProject()
  const { agent, thread } = input
  const threadId = threadIdOf(parts.projectId, thread)
  const placed = place(parts, threadId, input)
  const known = await alreadyStored(parts, threadId, input, placed)
  const fresh = placed.filter(({ message }) => !known.has(message.id))
  if (fresh.length === 0) await checkAgent(parts, threadId, agent)
  const jobs = split(fresh).map((messages) => ({
    projectId: parts.projectId,
    requestId: v7(),
    agent,
    thread,
    messages,
    ...(input.newAgentRollingWindow !== undefined && { newAgentRollingWindow: input.newAgentRollingWindow }),
  }))
  if (options.ack === 'queued') await parts.queues.addMany('ingest', jobs)
  else await sendAll(parts, threadId, jobs, options)
  return { threadId, stored: fresh.length, repeated: known.size }
}

/** Nothing is sent where all is stored, so nobody else would notice that the thread belongs to another agent. */
async function checkAgent(parts: ClientParts, threadId: string, agent: string): Promise<void> {
  const thread = await parts.store.inProject(parts.projectId, (tx) => loadThread(tx, { threadId }))
  if (!thread || thread.agentName === agent) return
  throw new ConflictError(`thread "${thread.name}" belongs to agent "${thread.agentName}"`, {
    field: 'agent',
    received: agent,
    hint: "append under the thread's own agent, or to another thread",
  })
}

function place({ ordinals }: ClientParts, threadId: string, { messages, startedAtMs }: AppendInput): PlacedMessage[] {
  const sentAtMs = messages.map((message) => (message.sentAt === undefined ? null : Date.parse(message.sentAt)))
  const places = proposePlaces(sentAtMs, startedAtMs ?? Date.now())
  const firstOrdinal = ordinals.next(threadId, { firstId: messages[0]?.id ?? '', places })
  return messages.map((message, index) => ({
    message,
    ordinal: firstOrdinal + index,
    orderedAt: new Date(places[index] ?? 0).toISOString(),
  }))
}

/** Of messages whose ids the caller chose, those that are there already; they need not be sent again. */
async function alreadyStored(
  parts: ClientParts,
  threadId: string,
  { chosenIds }: AppendInput,
  placed: readonly PlacedMessage[],
): Promise<ReadonlySet<string>> {
  const chosen = placed.filter(({ message }) => chosenIds.has(message.id))
  return chosen.length === 0 ? new Set() : await storedOf(parts, threadId, chosen)
}

async function storedOf(
  parts: ClientParts,
  threadId: string,
  placed: readonly PlacedMessage[],
): Promise<ReadonlySet<string>> {
  const ids = placed.map(({ message }) => message.id)
  const existing = new Map<string, Uint8Array>()
  for (let from = 0; from < ids.length; from += IDS_PER_LOOK) {
    const some = ids.slice(from, from + IDS_PER_LOOK)
    const found = await parts.store.inProject(parts.projectId, (tx) => existingMessages(tx, { threadId, ids: some }))
    for (const [id, fingerprint] of found) existing.set(id, fingerprint)
  }
  for (const [index, { message }] of placed.entries()) {
    const stored = existing.get(message.id)
    if (stored !== undefined && !Buffer.from(stored).equals(messageFingerprint(message))) {
      throw new ConflictError(`message ${message.id} is stored with other content`, {
        field: `messages.${index}.id`,
        received: message.id,
        hint: 'give each message an id of its own',
      })
    }
  }
  return new Set(ids.filter((id) => existing.has(id)))
}

/** Jobs are bounded by messages and by characters, so that no queue holds a giant. */
function split(placed: readonly PlacedMessage[]): PlacedMessage[][] {
  const jobs: PlacedMessage[][] = []
  let characters = 0
  for (const message of placed) {
    const size = messageCharacters(message.message)
    const last = jobs.at(-1)
    if (last && last.length < MESSAGES_PER_JOB && characters + size <= limits.charactersPerJobMax) {
      last.push(message)
      characters += size
    } else {
      jobs.push([message])
      characters = size
    }
  }
  return jobs
}

async function sendAll(
  parts: ClientParts,
  threadId: string,
  jobs: readonly IngestJob[],
  options: AppendOptions,
): Promise<void> {
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS_DEFAULT
  checkDeadline(deadlineMs)
  const endsAtMs = performance.now() + deadlineMs
  const waiting = [...jobs]
  let stored = 0
  const sendNext = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      await sendUntilStored(parts, threadId, job, endsAtMs, options.signal)
      stored += job.messages.length
      options.onProgress?.(stored)
    }
  }
  await Promise.all(Array.from({ length: Math.min(JOBS_IN_FLIGHT_MAX, jobs.length) }, sendNext))
}

/**
 * Sends a job, and sends it again while no answer comes: the queue may have lost it, or may be away. The ids of the
 * messages make that harmless.
 */
async function sendUntilStored(
  parts: ClientParts,
  threadId: string,
  job: IngestJob,
  endsAtMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const refusal = new AbortController()
  const expected = parts.queues.expectReply({
    requestId: job.requestId,
    deadlineMs: Math.max(1, Math.ceil(endsAtMs - performance.now())),
    signal: signal === undefined ? refusal.signal : AbortSignal.any([signal, refusal.signal]),
    // The worker replies after the commit. Only a reply that was lost makes it worth a look into the store: many producers
    // that look while their jobs wait would take the time of the very worker that they wait for.
    whenOk: true,
    firstReadMs: LOOK_EVERY_MS,
    readEveryMs: LOOK_EVERY_MS,
    read: async () => ((await storedOf(parts, threadId, job.messages)).size === job.messages.length ? true : undefined),
  })
  const send = async () => {
    try {
      await parts.queues.add('ingest', { ...job, replyTo: parts.queues.inbox })
    } catch (error) {
      // A queue that is away may be back before the deadline; one that refuses will not change its mind.
      if (!isWorthRetrying(error)) return refusal.abort(error)
      parts.log?.warn({ error, requestId: job.requestId }, 'the queue did not take a job; it will be sent again')
    }
  }
  const resend = setInterval(() => void send(), RESEND_AFTER_MS)
  try {
    void send()
    await expected.result
  } finally {
    clearInterval(resend)
    expected.cancel()
  }
}

function isWorthRetrying(error: unknown): boolean {
  return !(error instanceof HeddleError) || error.disposition === 'retry'
}
