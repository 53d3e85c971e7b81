import {
  ConflictError,
  HeddleError,
  type IngestJob,
  ingestJobSchema,
  type MessageInput,
  parse,
} from '@heddle/contracts'
import { agentIdOf, canonicalJson, threadIdOf } from '@heddle/core'
import { createClient } from '@heddle/engine'
import type { Queues } from '@heddle/queue'
import type { Clock } from '@heddle/runtime'
import type { Store, Tx } from '@heddle/store'
import { decodePayload, encodePayload, originOf } from '../../packages/queue/src/send/payload.js'
import { prepareAppend } from '../../packages/store/src/appends/prepare.js'
import { planAppends } from '../../packages/store/src/messages/append-plan.js'

/** The result of one input. Anything else is a crash: another error, one that names no field, a changed message. */
export type Verdict =
  | { readonly kind: 'accepted'; readonly jobs: readonly IngestJob[] }
  | { readonly kind: 'refused'; readonly code: string; readonly detail: string }

const RECEIVED_AT_MS = Date.parse('2026-02-12T14:30:00Z')

/** The path of an append up to the queue, without servers: nothing is stored yet, and the queue accepts everything. */
export class Producer {
  #jobs: IngestJob[] = []
  readonly #client = createClient({ store: emptyStore(), queues: this.#takingQueues(), clock: stoppedClock })

  async judge(options: unknown): Promise<Verdict> {
    this.#jobs = []
    const verdict = await verdictOn(() => this.#client.messages.append(options as never).then(() => this.#jobs))
    if (verdict.kind === 'refused') return verdict
    const sent = verdict.jobs.flatMap(({ messages }) => messages.map(({ message }) => message))
    checkSame((options as { messages: readonly unknown[] }).messages, sent)
    for (const job of verdict.jobs) {
      if (plan(job) === 'conflict') return { kind: 'refused', code: 'CONFLICT', detail: 'one id twice' }
      checkRoundTrip(job)
    }
    return verdict
  }

  #takingQueues(): Queues {
    const replies = new Map<string, () => void>()
    const add = async (_: string, job: IngestJob) => {
      this.#jobs.push(job)
      replies.get(job.requestId)?.()
    }
    const expectReply = ({ requestId, signal }: { requestId: string; signal?: AbortSignal }) => ({
      result: new Promise<void>((resolve, reject) => {
        replies.set(requestId, resolve)
        signal?.addEventListener('abort', () => reject(signal.reason))
      }),
      cancel: () => void replies.delete(requestId),
    })
    return {
      inbox: 'inbox',
      admit: async () => {},
      acquireShare: () => () => {},
      add,
      expectReply,
    } as unknown as Queues
  }
}

/** Time stands still, so that no deadline passes. */
const stoppedClock: Clock = {
  nowMs: () => RECEIVED_AT_MS,
  monotonicMs: () => 0,
  wait: (_, signal) =>
    new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true })),
  after: () => () => {},
}

/** Answers each query with an empty result. */
function emptyStore(): Store {
  const tx = Object.assign(() => Promise.resolve([]), { array: () => null }) as unknown as Tx
  return { inProject: (_: string, work: (tx: Tx) => Promise<unknown>) => work(tx) } as unknown as Store
}

/** The work of a worker on the bytes of a job, up to the database. */
export async function judgePayload(data: unknown): Promise<Verdict> {
  return await verdictOn(async () => {
    const payload = decodePayload(data)
    originOf(payload)
    const job = parse(ingestJobSchema, payload, 'ingest job')
    if (plan(job) === 'conflict') throw new ConflictError('one id twice', { field: 'messages.id' })
    checkRoundTrip(job)
    return [job]
  })
}

async function verdictOn(work: () => Promise<readonly IngestJob[]>): Promise<Verdict> {
  try {
    return { kind: 'accepted', jobs: await work() }
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error
    if (!error.field || error.disposition === 'retry')
      throw new Error(`names no field: ${error.message}`, { cause: error })
    JSON.stringify(error)
    return { kind: 'refused', code: error.code, detail: error.message }
  }
}

/** @throws Error if the plan refuses input that the schema accepted; it may only refuse a repeated id in one append */
function plan(job: IngestJob): 'planned' | 'conflict' {
  const prepared = prepareAppend(job)
  const agentId = agentIdOf(job.projectId, job.agent)
  const threadId = threadIdOf(job.projectId, job.thread)
  const thread = { agentId, place: '(0,1)', headSeq: 0, tokensEstimate: 0, latestAtMs: null }
  const { outcomes, messages } = planAppends([{ ...prepared, agentId, threadId }], {
    projectId: job.projectId,
    receivedAtMs: RECEIVED_AT_MS,
    threads: new Map([[threadId, thread]]),
    known: new Map(),
    erased: new Set(),
  })
  const error = outcomes[0]?.error
  if (error?.code === 'CONFLICT' && error.field !== undefined) return 'conflict'
  if (error !== null) throw new Error(`the plan refuses what the schema took: ${error?.detail}`)
  for (const [index, { seq, message }] of messages.entries()) {
    if (seq !== index + 1) throw new Error('the plan leaves a gap')
    if (message.orderedAtMs > RECEIVED_AT_MS + 5_000 || Number.isNaN(message.orderedAtMs))
      throw new Error('is out of bounds')
    if (!Number.isSafeInteger(message.tokensEstimate)) throw new Error('has no estimate')
  }
  return 'planned'
}

/** An accepted message that is encoded and accepted again is identical. */
function checkRoundTrip(job: IngestJob): void {
  const again = parse(ingestJobSchema, decodePayload(encodePayload('ingest', job)), 'ingest job')
  // Identical messages have the same fingerprint, too, which is a hash of this form.
  if (canonicalJson(again) !== canonicalJson(job)) throw new Error('changed by a round trip')
}

/** The sent message equals the given one; only ids are in lower case, and created if absent. */
function checkSame(appended: readonly unknown[], sent: readonly MessageInput[]): void {
  const given = withoutRepeats(appended)
  if (given.length !== sent.length) throw new Error(`${given.length} were given, ${sent.length} sent`)
  for (const [index, message] of sent.entries()) {
    const { id: _, contextId, ...fields } = JSON.parse(JSON.stringify(given[index])) as MessageInput
    const expected = {
      ...fields,
      id: message.id,
      ...(contextId !== undefined && { contextId: contextId.toLowerCase() }),
    }
    if (canonicalJson(expected) !== canonicalJson(message)) throw new Error(`message ${index} was changed`)
  }
}

/** A message that is given twice under its id is sent once. */
function withoutRepeats(messages: readonly unknown[]): unknown[] {
  const ids = messages.map((message) => (message as { id?: string }).id?.toLowerCase())
  return messages.filter((_, index) => ids[index] === undefined || ids.indexOf(ids[index]) === index)
}
