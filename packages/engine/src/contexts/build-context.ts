import { checkDeadline, newId, retryUntil } from '@heddle/client/calls'
import type { BuildOptions } from '@heddle/client/interface'
import { DEADLINE_MS_DEFAULT } from '@heddle/client/interface'
import {
  type ContextJob,
  type ContextRequest,
  type ContextResult,
  contextRequestSchema,
  errorFromData,
  limits,
  parse,
} from '@heddle/contracts'
import { type ContextPatch, keyWithBase, preparedKey, requestKey, threadIdOf } from '@heddle/core'
import type { ExpectedReply } from '@heddle/queue'
import { hadLessTime, loadContext, requestContext, unpackResult } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import { contextAt } from './context-at.js'
import { withPartBytes } from './context-parts.js'
import { previewContext } from './preview-context.js'
import { jobOf, refuseOtherRequest, rowOf } from './request-row.js'

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
  const releaseStages = parts.directAppends?.holdStages(threadIdOf(projectId, checked.thread))
  try {
    if (store === false) return await previewContext(parts, checked, Math.max(1, endsAtMs - clock.monotonicMs()))
    const deadline = { leftMs: Math.max(1, endsAtMs - clock.monotonicMs()), signal }
    const context = new AwaitedContext(parts, checked, deadline, contextId)
    return await withPartBytes(parts, await context.answered())
  } finally {
    releaseStages?.()
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
  readonly #requestKey: string
  /** The last context of the same request, of which the reply may contain the differences. */
  readonly #base: ContextResult | undefined
  readonly #expected: ExpectedReply<ContextResult>
  /** Whether the id is that of an idempotency key, under which another attempt may be under way. */
  readonly #isKeyed: boolean
  #isSent = false
  /** Reads that found the row waiting although its job was sent. */
  #waitingReads = 0
  /** Whether the error of an earlier attempt holds for this one, too: its row could not be requested again. */
  #isFinal = false

  constructor(
    parts: EngineContext,
    request: ContextRequest,
    { leftMs: deadlineMs, signal }: { readonly leftMs: number; readonly signal: AbortSignal | undefined },
    id: string | undefined,
  ) {
    this.#parts = parts
    this.#request = request
    this.#id = id ?? newId()
    this.#isKeyed = id !== undefined
    this.#deadlineAtMs = Date.now() + deadlineMs
    // A prepared context has an id of its own.
    this.#key = id === undefined ? preparedKey(request, parts.settings) : null
    this.#requestKey = requestKey(parts.projectId, request)
    this.#base = parts.knownContexts.find(this.#requestKey)
    this.#expected = parts.queues.expectReply({
      requestId: this.#id,
      deadlineMs,
      signal,
      read: () => this.#read(),
      // Another request may be under way under the id of a key: only the row shows whose answer it is.
      ...(id === undefined && { open: (answer: unknown) => this.#open(answer) }),
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
      ...jobOf(this.#parts, this.#id, keyWithBase(this.#requestKey, wantsAnswer ? this.#base?.id : undefined)),
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
    if (row !== null && !this.#isFinal && hadLessTime(row, { deadlineAtMs: this.#deadlineAtMs })) {
      if (wasSent) await this.#reopen()
      return undefined
    }
    if (this.#isKeyed && wasSent && row?.status === 'requested') await this.#sendAgain()
    // Final, also one that a later request may not meet, while other errors of a read are those of the store.
    if (row?.error) this.#expected.fail(errorFromData(row.error))
    const result = row?.result ?? undefined
    if (result === undefined) return undefined
    const mayAnswerAgain = row?.mayAnswerAgain ?? false
    this.#note(mayAnswerAgain)
    // A prepared context has an id of its own, which no later request names as its base.
    return mayAnswerAgain ? result : this.#keep(result)
  }

  /** If another attempt has reopened the row meanwhile, the next read shows it; otherwise its error is final. */
  async #reopen(): Promise<void> {
    const { store, projectId } = this.#parts
    const { isNew } = await store.inProject(projectId, (tx) => requestContext(tx, this.#row()), { together: true })
    if (isNew) await this.#add({})
    else this.#isFinal = true
  }

  /**
   * A job was not added if that of an earlier attempt, which has less time, was still there; that one has ended by now, or the
   * new one is merged with it.
   */
  async #sendAgain(): Promise<void> {
    this.#waitingReads++
    if (this.#waitingReads > 1) await this.#add({})
  }

  async #open(answer: unknown): Promise<ContextResult | undefined> {
    const result = await this.#opened(answer as Uint8Array | ContextResult | { readonly patch: ContextPatch })
    if (result?.id !== this.#id) return undefined
    this.#note(false)
    return this.#keep(result)
  }

  async #opened(answer: Uint8Array | ContextResult | { readonly patch: ContextPatch }): Promise<ContextResult | null> {
    if (answer instanceof Uint8Array) return await unpackResult(answer)
    if (!('patch' in answer)) return answer
    const { knownContexts, log } = this.#parts
    const result = knownContexts.patched(answer.patch, this.#base)
    if (result === null)
      log?.warn(
        { contextId: this.#id, base: answer.patch.base },
        'the differences make another context; its row is read',
      )
    return result
  }

  #keep(result: ContextResult): ContextResult {
    return this.#parts.knownContexts.keep(this.#requestKey, result)
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
