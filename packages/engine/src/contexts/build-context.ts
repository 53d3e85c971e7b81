import { checkDeadline, newId, retryUntil } from '@heddle/client/calls'
import type { BuildOptions } from '@heddle/client/interface'
import { DEADLINE_MS_DEFAULT } from '@heddle/client/interface'
import {
  type ContextJob,
  type ContextRequest,
  type ContextResult,
  contextRequestSchema,
  limits,
  parse,
} from '@heddle/contracts'
import { preparedKey } from '@heddle/core'
import type { ExpectedReply } from '@heddle/queue'
import { loadContext, requestContext, unpackResult } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import { contextAt } from './context-at.js'
import { withPartBytes } from './context-parts.js'
import { previewContext } from './preview-context.js'
import { jobOf, refuseOtherRequest, resultOf, rowOf } from './request-row.js'

export interface BuildContextOptions extends Omit<BuildOptions, 'idempotencyKey'> {
  /** A context that exists under this id answers the request. Default: a new id. */
  readonly contextId?: string | undefined
}

/**
 * Requests a context and waits for it. The row holds the result, so a lost job or message delays the context but never
 * loses it.
 *
 * @throws PermanentError with the reason why it cannot be built, such as `BUDGET_TOO_SMALL`, or `NOT_FOUND` if the thread
 *   does not exist or is erased meanwhile
 * @throws RetryableError `TIMEOUT` at the deadline
 */
export async function buildContext(
  parts: EngineContext,
  request: ContextRequest,
  { deadlineMs = DEADLINE_MS_DEFAULT, signal, onBusy = 'wait', contextId }: BuildContextOptions = {},
): Promise<ContextResult> {
  const { store, ...checked } = parse(contextRequestSchema, request, 'context request')
  checkDeadline(deadlineMs)
  if (checked.at !== undefined) return await contextAt(parts, { ...checked, at: checked.at })
  const { queues, projectId, clock } = parts
  const take = () => queues.acquireShare({ stage: 'assemble', projectId, bytes: 0 })
  const endsAtMs = clock.monotonicMs() + deadlineMs
  const release = onBusy === 'fail' ? take() : await retryUntil(async () => take(), { clock, endsAtMs, signal })
  try {
    if (store === false) return await previewContext(parts, checked, Math.max(1, endsAtMs - clock.monotonicMs()))
    const deadline = { leftMs: Math.max(1, endsAtMs - clock.monotonicMs()), signal }
    const context = new AwaitedContext(parts, checked, deadline, contextId)
    return await withPartBytes(parts, await context.answered())
  } finally {
    release()
  }
}

/**
 * One request and the wait for its result. Unless a prepared context is likely, the job carries the request, and the worker
 * writes the row together with the result. If the caller finds no row after a while, it writes the row: from then on a lost
 * job cannot lose the request.
 */
class AwaitedContext {
  readonly #parts: EngineContext
  readonly #request: ContextRequest
  readonly #id: string
  readonly #deadlineAtMs: number
  /** The key of a prepared context for this request; null if none can exist. */
  readonly #key: string | null
  readonly #expected: ExpectedReply<ContextResult>
  #isSent = false

  constructor(
    parts: EngineContext,
    request: ContextRequest,
    { leftMs: deadlineMs, signal }: { readonly leftMs: number; readonly signal: AbortSignal | undefined },
    id: string | undefined,
  ) {
    this.#parts = parts
    this.#request = request
    this.#id = id ?? newId()
    this.#deadlineAtMs = Date.now() + deadlineMs
    // A prepared context has an id of its own.
    this.#key = id === undefined ? preparedKey(request, parts.settings) : null
    this.#expected = parts.queues.expectReply({
      requestId: this.#id,
      deadlineMs,
      signal,
      read: () => this.#read(),
      open: (answer) => this.#open(answer),
    })
  }

  async answered(): Promise<ContextResult> {
    try {
      // A server that takes long to refuse must not keep the caller past the deadline.
      return await Promise.race([this.#expected.result, this.#send()])
    } finally {
      this.#expected.cancel()
    }
  }

  async #send(): Promise<ContextResult> {
    const { prebuild } = this.#request
    const isLikelyPrepared = this.#key !== null && (prebuild ?? this.#parts.likelyPrepared.has(this.#key))
    const carried = isLikelyPrepared ? null : this.#carried()
    if (carried === null) return (await this.#writeRow()) ?? (await this.#expected.result)
    await this.#add(carried)
    return await this.#expected.result
  }

  /** A job with the whole request; null if the request is too large. */
  #carried(): Partial<ContextJob> | null {
    const { threadId, request, deadlineAtMs } = this.#row()
    // Almost all requests are far below the limit: without their message they are a few names and numbers.
    const { message = '' } = request
    if (message.length > limits.requestInJobCharactersMax) return null
    if (JSON.stringify(request).length > limits.requestInJobCharactersMax) return null
    return { threadId, asked: { request, deadlineAtMs } }
  }

  /** Writes the row of the request. @returns a prepared context, found by the same statement; then no row is written */
  async #writeRow(): Promise<ContextResult | undefined> {
    const { store, projectId, clock } = this.#parts
    // A request that was sent is answered by its own worker.
    const mayBePrepared = this.#key !== null && !this.#isSent
    const asked = {
      ...this.#row(),
      ...(mayBePrepared && { prepared: { key: this.#key ?? '', nowMs: clock.nowMs() } }),
    }
    const { ready } = await store.inProject(projectId, (tx) => requestContext(tx, asked), { together: true })
    if (ready !== null) return ready
    await this.#add({})
    return undefined
  }

  async #add(carried: Partial<ContextJob>): Promise<void> {
    const wantsAnswer = this.#expected.takesAnswer
    this.#isSent = true
    await this.#parts.queues.add('assemble', {
      ...jobOf(this.#parts, this.#id, this.#request),
      ...carried,
      ...(wantsAnswer && { wantsAnswer }),
    })
  }

  async #read(): Promise<ContextResult | undefined> {
    const { store, projectId } = this.#parts
    const wasSent = this.#isSent
    const row = await store.inProject(projectId, (tx) => loadContext(tx, { id: this.#id }), { snapshot: true })
    // No worker wrote the row yet, or it was erased: with its thread, in which case writing it fails, or because the context
    // would have shown another thread that was erased.
    if (row === null && wasSent) return await this.#writeRow()
    if (row !== null) refuseOtherRequest(row, this.#request)
    const result = resultOf(row)
    if (result !== undefined) this.#note(row?.mayAnswerAgain ?? false)
    return result
  }

  async #open(answer: unknown): Promise<ContextResult | undefined> {
    const result = answer instanceof Uint8Array ? await unpackResult(answer) : (answer as ContextResult)
    if (result.id !== this.#id) return undefined
    this.#note(false)
    return result
  }

  /** Contexts that may answer later requests never come by a reply. */
  #note(mayAnswerAgain: boolean): void {
    if (this.#key !== null && this.#request.prebuild === undefined)
      this.#parts.likelyPrepared.note(this.#key, mayAnswerAgain)
  }

  #row() {
    return rowOf(this.#parts, this.#id, this.#request, this.#deadlineAtMs)
  }
}
