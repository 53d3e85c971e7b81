import {
  type AppendInput,
  countedAsAppended,
  countedAsEntries,
  isWorthRetrying,
  newId,
  type RetryPolicy,
  readAppend,
  retryUntil,
} from '@heddle/client/calls'
import type { Ack, AppendOptions, AppendResult, AppendSettings } from '@heddle/client/interface'
import { DEADLINE_MS_DEFAULT } from '@heddle/client/interface'
import { ConflictError, type IngestJob, type OnUsedId, type PlacedMessage } from '@heddle/contracts'
import { placedFingerprint, proposePlaces, threadIdOf } from '@heddle/core'
import { loadThread } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import type { DirectOutcome } from './direct-appends.js'
import { storedOf } from './existing-messages.js'
import { type SendOptions, sendJob } from './send-job.js'
import { type MessageBatch, measure, type OutgoingJob, type SizedMessage, split } from './split-append.js'
import { windowWarnings } from './window-warnings.js'

const noIds: ReadonlySet<string> = new Set()

/** Time limit for the window warnings, in milliseconds. With `queued` an append must not wait long for a store that is down. */
const WARNING_MS_MAX: Readonly<Record<Ack, number>> = { stored: 1_000, queued: 200 }

/** Jobs of one append in flight at once. */
const JOBS_IN_FLIGHT_MAX = 16

/**
 * Appends messages to a thread, in their order, exactly once, however often they are sent.
 *
 * @throws PermanentError `VALIDATION_ERROR` or `PAYLOAD_TOO_LARGE` that names the message, before anything is sent
 * @throws ConflictError if an id is used by another message, of the thread or of the append
 * @throws RetryableError `TIMEOUT` if not all are known to be stored by the deadline; `RATE_LIMITED` with `retryAfter` if
 *   the queue is full; `SERVICE_UNAVAILABLE` if a server is down. Appending the same ids again is harmless
 */
export async function appendMessages(parts: EngineContext, options: AppendOptions): Promise<AppendResult> {
  const input = readAppend(options)
  const { ack = 'stored', onBusy = ack === 'stored' ? 'wait' : 'fail', onProgress } = options
  const { agent, thread, newAgentRollingWindow, onUsedId, chosenIds } = input
  const given = place(parts, threadIdOf(parts.projectId, thread), input)
  try {
    const appended = await appendPlaced(
      parts,
      { agent, thread, given, chosenIds, newAgentRollingWindow, onUsedId, idsAreNew: options.idsAreNew },
      { ...patienceOf(parts, options), ack, waitsForCapacity: onBusy === 'wait' },
      onProgress,
    )
    const timeoutMs = WARNING_MS_MAX[ack]
    const warnings = await windowWarnings(parts, { agent, thread, placed: given, newAgentRollingWindow, timeoutMs })
    return warnings.length === 0 ? appended : { ...appended, warnings }
  } catch (error) {
    throw countedAsEntries(error, input.entries)
  }
}

/** Messages whose positions are set already. */
export interface PlacedAppend extends Pick<AppendInput, 'agent' | 'thread' | 'chosenIds'> {
  readonly given: readonly PlacedMessage[]
  readonly newAgentRollingWindow?: number | null | undefined
  /** Default `refuse`. */
  readonly onUsedId?: OnUsedId | undefined
  /** None of the chosen ids needs to be looked up. */
  readonly idsAreNew?: boolean | undefined
}

/** Appends messages at given positions; see {@link appendMessages}. */
export async function appendPlaced(
  parts: EngineContext,
  append: PlacedAppend,
  options: SendOptions,
  onProgress?: AppendSettings['onProgress'],
): Promise<AppendResult> {
  const given = append.given.map((one, index) => measure(one, `messages.${index}`))
  const bytes = given.reduce((sum, { jsonCharacters }) => sum + jsonCharacters, 0)
  const release = tryShare(parts, bytes, options) ?? (await retryUntil(async () => acquireShare(parts, bytes), options))
  const end = options.ack === 'stored' ? parts.directAppends?.begin() : undefined
  try {
    return await appendMeasured(parts, append, given, options, onProgress)
  } finally {
    end?.()
    release()
  }
}

/** @returns releases the share @throws RetryableError `RATE_LIMITED` if no share is free */
function acquireShare({ queues, projectId }: EngineContext, bytes: number): () => void {
  return queues.acquireShare({ stage: 'ingest', projectId, bytes })
}

/** @returns undefined if no share is free and the caller waits */
function tryShare(parts: EngineContext, bytes: number, { waitsForCapacity }: SendOptions): (() => void) | undefined {
  try {
    return acquireShare(parts, bytes)
  } catch (error) {
    if (waitsForCapacity && isWorthRetrying(error)) return undefined
    throw error
  }
}

async function appendMeasured(
  parts: EngineContext,
  append: PlacedAppend,
  given: readonly SizedMessage[],
  options: SendOptions,
  onProgress: AppendSettings['onProgress'],
): Promise<AppendResult> {
  const { ack, waitsForCapacity } = options
  const threadId = threadIdOf(parts.projectId, append.thread)
  const messages = append.chosenIds.size === 0 ? given : withoutRepeats(given, append.onUsedId)
  if (ack === 'stored' && parts.ensureProjectName() !== null)
    await retryUntil(async () => await parts.ensureProjectName(), options)
  const mayStore = ack === 'stored' && parts.directAppends?.hasRoom === true
  const direct = mayStore ? await storeDirectly(parts, append, messages, options) : null
  if (direct !== null) {
    onProgress?.(messages.length)
    return { threadId, stored: direct.stored, repeated: given.length - direct.stored }
  }

  const mayBeStored = append.chosenIds.size > 0 && append.idsAreNew !== true
  const known = ack === 'stored' && mayBeStored ? await lookUp(parts, threadId, append, options) : noIds
  const fresh = known.size === 0 ? messages : messages.filter(({ placed }) => !known.has(placed.message.id))
  if (ack === 'stored' && fresh.length === 0) await checkAgent(parts, threadId, append.agent, options)
  if (ack === 'queued') ensureProjectInBackground(parts)

  const jobs = split(fresh).map((parcel) => jobOf(parts, append, parcel))
  if (!waitsForCapacity && jobs.length > 0) {
    await parts.queues.admit({ jobs: jobs.length, bytes: jobs.reduce((sum, { bytes }) => sum + bytes, 0) })
  }
  options.signal?.throwIfAborted()
  await sendAll(parts, threadId, { jobs, places: append.given }, options, onProgress)
  return { threadId, stored: fresh.length, repeated: given.length - fresh.length }
}

/** @returns null if the append has to go through the queue */
async function storeDirectly(
  parts: EngineContext,
  append: PlacedAppend,
  messages: readonly SizedMessage[],
  options: SendOptions,
): Promise<DirectOutcome | null> {
  if (parts.directAppends === null) return null
  const [only, ...more] = split(messages)
  if (only === undefined || more.length > 0) return null
  options.signal?.throwIfAborted()
  try {
    return await parts.directAppends.store(jobOf(parts, append, only), options)
  } catch (error) {
    throw countedAsAppended(error, only.messages, append.given)
  }
}

function jobOf(parts: EngineContext, append: PlacedAppend, { messages, jsonCharacters }: MessageBatch): OutgoingJob {
  const { agent, thread, newAgentRollingWindow, onUsedId } = append
  const job: IngestJob = { projectId: parts.projectId, requestId: newId(), agent, thread, messages }
  if (onUsedId !== undefined) job.onUsedId = onUsedId
  if (newAgentRollingWindow !== undefined) job.newAgentRollingWindow = newAgentRollingWindow
  return { job, bytes: jsonCharacters }
}

/**
 * A message that occurs twice in one append is sent once, at its first position.
 *
 * @param onUsedId Default `refuse`
 * @throws ConflictError if two different messages have the same id, before anything is sent
 */
export function withoutRepeats(given: readonly SizedMessage[], onUsedId: OnUsedId = 'refuse'): readonly SizedMessage[] {
  if (given.length < 2) return given
  const firstOf = new Map<string, PlacedMessage>()
  return given.filter(({ placed }, index) => {
    const { message } = placed
    const first = firstOf.get(message.id)
    if (first === undefined) {
      firstOf.set(message.id, placed)
      return true
    }
    if (onUsedId === 'keep') return false
    if (hasSameNumber(first, placed) && placedFingerprint(first) === placedFingerprint(placed)) return false
    throw new ConflictError(`the append contains two different messages with the id ${message.id}`, {
      field: `messages.${index}.id`,
      received: message.id,
      hint: 'Give each message a separate id. Nothing was sent.',
    })
  })
}

/** Fingerprints are without the numbers of iterations. */
function hasSameNumber({ iteration: first }: PlacedMessage, { iteration }: PlacedMessage): boolean {
  return iteration?.iterationNumber === undefined || iteration.iterationNumber === first?.iterationNumber
}

export function patienceOf(
  { clock }: EngineContext,
  { deadlineMs = DEADLINE_MS_DEFAULT, signal }: AppendSettings,
): RetryPolicy {
  return { clock, endsAtMs: clock.monotonicMs() + deadlineMs, signal }
}

/** The messages of an append, in their order. */
type Places = readonly PlacedMessage[]

/** The messages with ids of the caller that are stored already; they need not be sent again. */
async function lookUp(
  parts: EngineContext,
  threadId: string,
  { chosenIds, given, onUsedId }: PlacedAppend,
  retryPolicy: RetryPolicy,
): Promise<ReadonlySet<string>> {
  const chosen = given.filter(({ message }) => chosenIds.has(message.id))
  try {
    return await retryUntil(() => storedOf(parts, threadId, chosen, onUsedId), retryPolicy)
  } catch (error) {
    throw countedAsAppended(error, chosen, given)
  }
}

/** In the background, as the caller does not wait for the store: until it is done, references use the project's id. */
function ensureProjectInBackground(parts: EngineContext): void {
  parts
    .ensureProjectName()
    ?.catch((error: unknown) => parts.log?.debug({ error }, 'the name of the project could not be stored'))
}

/** If all messages are stored already, nothing is sent, and no other check notices that the thread belongs to another agent. */
async function checkAgent(
  parts: EngineContext,
  threadId: string,
  agent: string,
  retryPolicy: RetryPolicy,
): Promise<void> {
  const thread = await retryUntil(
    () => parts.store.inProject(parts.projectId, (tx) => loadThread(tx, { threadId })),
    retryPolicy,
  )
  if (!thread || thread.agentName === agent) return
  throw new ConflictError(`thread "${thread.name}" belongs to agent "${thread.agentName}"`, {
    field: 'agent',
    received: agent,
    hint: "Append with the thread's own agent, or to another thread.",
  })
}

export function place(
  { ordinals, clock }: EngineContext,
  threadId: string,
  { messages, startedAtMs, continues }: Pick<AppendInput, 'messages' | 'startedAtMs' | 'continues'>,
): PlacedMessage[] {
  const sentAtMs = messages.map((message) => (message.sentAt === undefined ? null : Date.parse(message.sentAt)))
  const latestMs = continues ? ordinals.latestAtMs(threadId) : undefined
  const places = proposePlaces(sentAtMs, startedAtMs ?? clock.nowMs(), latestMs)
  const firstOrdinal = ordinals.next(threadId, { firstId: messages[0]?.id ?? '', places, continues })
  // Messages without a time get that of the append.
  let latest = { atMs: Number.NaN, text: '' }
  return messages.map((message, index) => {
    const atMs = places[index] ?? 0
    if (atMs !== latest.atMs) latest = { atMs, text: new Date(atMs).toISOString() }
    return { message, ordinal: firstOrdinal + index, orderedAt: latest.text }
  })
}

async function sendAll(
  parts: EngineContext,
  threadId: string,
  { jobs, places }: { jobs: readonly OutgoingJob[]; places: Places },
  options: SendOptions,
  onProgress: AppendSettings['onProgress'],
): Promise<void> {
  const [only] = jobs
  if (only !== undefined && jobs.length === 1) {
    await sendOne(parts, threadId, { job: only, places }, options)
    onProgress?.(only.job.messages.length)
    return
  }
  let sent = 0
  let acknowledged = 0
  const sendNext = async (): Promise<void> => {
    for (let next = jobs[sent++]; next !== undefined; next = jobs[sent++]) {
      try {
        await sendOne(parts, threadId, { job: next, places }, options)
      } catch (error) {
        // The caller gets the error now, so no further message of the append may be stored afterwards.
        sent = jobs.length
        throw error
      }
      acknowledged += next.job.messages.length
      onProgress?.(acknowledged)
    }
  }
  await Promise.all(Array.from({ length: Math.min(JOBS_IN_FLIGHT_MAX, jobs.length) }, sendNext))
}

function sendOne(
  parts: EngineContext,
  threadId: string,
  { job, places }: { job: OutgoingJob; places: Places },
  options: SendOptions,
): Promise<void> {
  return sendJob(parts, threadId, job, options).catch((error: unknown) => {
    throw countedAsAppended(error, job.job.messages, places)
  })
}
