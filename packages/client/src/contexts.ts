import {
  type ContextDiff,
  type ContextJob,
  type ContextRequest,
  type ContextResult,
  contextRequestSchema,
  errorFromData,
  idSchema,
  limits,
  notFound,
  parse,
  RetryableError,
} from '@heddle/contracts'
import { diffContexts, preparedKey, requestKey, threadIdOf } from '@heddle/core'
import { type ContextRow, loadContext, requestContext } from '@heddle/store'
import { contextAt } from './context-at.js'
import { newId } from './ids.js'
import { type ClientParts, checkDeadline, DEADLINE_MS_DEFAULT } from './options.js'
import { persist } from './retrying.js'

export interface BuildOptions {
  /** How long to wait for the context, in milliseconds. */
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
  /**
   * While the project has its share of contexts under way and others wait for theirs: `wait` until the deadline, or `fail`
   * with `RATE_LIMITED` before anything is asked for. Default `wait`.
   */
  readonly onBusy?: 'wait' | 'fail'
}

/**
 * Asks for a context and waits for it. The request is a row, the answer is the same row: what is lost on the way, a job or
 * a message, costs a moment and never the context.
 *
 * @throws PermanentError with the reason why it cannot be built, such as `BUDGET_TOO_SMALL`, or `NOT_FOUND` where the
 *   thread is not there, or is erased meanwhile
 * @throws RetryableError `TIMEOUT` at the deadline
 */
export async function buildContext(
  parts: ClientParts,
  request: ContextRequest,
  { deadlineMs = DEADLINE_MS_DEFAULT, signal, onBusy = 'wait' }: BuildOptions = {},
): Promise<ContextResult> {
  const checked = parse(contextRequestSchema, request, 'context request')
  checkDeadline(deadlineMs)
  if (checked.at !== undefined) return await contextAt(parts, { ...checked, at: checked.at })
  const { queues, projectId, clock } = parts
  const take = () => queues.takeShare({ stage: 'assemble', projectId, bytes: 0 })
  const endsAtMs = clock.nowMs() + deadlineMs
  const giveBack = onBusy === 'fail' ? take() : await persist(async () => take(), { clock, endsAtMs, signal })
  try {
    return await awaitContext(parts, checked, { deadlineMs: Math.max(1, endsAtMs - clock.nowMs()), signal })
  } finally {
    giveBack()
  }
}

async function awaitContext(
  parts: ClientParts,
  checked: ContextRequest,
  { deadlineMs, signal }: { readonly deadlineMs: number; readonly signal: AbortSignal | undefined },
): Promise<ContextResult> {
  const { store, queues, projectId } = parts
  const id = newId()
  let isRequested = false
  // What was prepared for this request, where it holds, is found by the statement that asks: then it is the answer.
  const ask = async () => {
    const request = async (expected: boolean) => {
      const asked = { ...rowOf(parts, id, checked, deadlineMs), prepared: preparedFor(parts, checked, expected) }
      return await store.inProject(projectId, (tx) => requestContext(tx, asked), { together: true })
    }
    const first = await request(checked.prebuild === true)
    const { ready } = first.isLikelyReady ? await request(true) : first
    if (ready !== null) return ready
    isRequested = true
    await queues.add('assemble', jobOf(parts, id, checked))
    return undefined
  }
  const expected = queues.expectReply({
    requestId: id,
    deadlineMs,
    ...(signal !== undefined && { signal }),
    read: async () => {
      const wasRequested = isRequested
      const row = await store.inProject(projectId, (tx) => loadContext(tx, { id }), { snapshot: true })
      // Erased meanwhile: with its thread, which asking again says, or since it was about to show another one that was.
      if (row === null && wasRequested) return await ask()
      return resultOf(row)
    },
  })
  const send = async () => (await ask()) ?? (await expected.result)
  try {
    // A server that takes long to refuse must not keep the caller past the deadline.
    return await Promise.race([expected.result, send()])
  } finally {
    expected.cancel()
  }
}

function jobOf({ queues, projectId }: ClientParts, contextId: string, request: ContextRequest): ContextJob {
  return { projectId, contextId, replyTo: queues.inbox, requestKey: requestKey(projectId, request) }
}

function rowOf({ projectId }: ClientParts, id: string, request: ContextRequest, deadlineMs: number) {
  return { id, threadId: threadIdOf(projectId, request.thread), request, deadlineAtMs: Date.now() + deadlineMs }
}

/** @param expected whether the request itself says that one is to be prepared; the settings may, too */
function preparedFor({ settings, clock }: ClientParts, request: ContextRequest, expected: boolean) {
  const key = preparedKey(request, settings)
  return key === null ? undefined : { key, nowMs: clock.nowMs(), expected }
}

/** A context that was asked for, as far as it has come. */
export type RequestedContext =
  | { readonly id: string; readonly status: 'requested' }
  | { readonly id: string; readonly status: 'built'; readonly context: ContextResult }

/**
 * Asks for a context and does not wait for it: {@link findContext} tells when it is there, as does the event
 * `context.built`. What cannot be built fails later, with its reason in the same place.
 *
 * @param options `deadlineMs`: until then the context is built or never. Default 600,000
 * @returns the id of the context
 * @throws PermanentError `VALIDATION_ERROR`, `NOT_FOUND` where the thread was erased
 */
export async function orderContext(
  parts: ClientParts,
  request: ContextRequest,
  { deadlineMs = limits.waitMsMax }: Pick<BuildOptions, 'deadlineMs'> = {},
): Promise<string> {
  const checked = parse(contextRequestSchema, request, 'context request')
  checkDeadline(deadlineMs)
  if (checked.at !== undefined) return (await contextAt(parts, { ...checked, at: checked.at })).id
  const { store, queues, projectId, log } = parts
  const giveBack = queues.takeShare({ stage: 'assemble', projectId, bytes: 0 })
  const id = newId()
  const asked = rowOf(parts, id, checked, deadlineMs)
  try {
    await store.inProject(projectId, (tx) => requestContext(tx, asked), { together: true })
    // The row is the request: without the job, the reconciler finds it.
    await queues
      .add('assemble', jobOf(parts, id, checked))
      .catch((error: unknown) => log?.warn({ error, contextId: id }, 'a requested context waits for the reconciler'))
    return id
  } finally {
    // From here on its job counts.
    giveBack()
  }
}

/**
 * How a context stands that was asked for.
 *
 * @throws PermanentError `NOT_FOUND`; the reason where the context failed; RetryableError `TIMEOUT` where nobody built it
 *   by its deadline
 */
export async function findContext({ store, projectId, clock }: ClientParts, given: string): Promise<RequestedContext> {
  const id = parse(idSchema, given, 'context')
  const row = await store.inProject(projectId, (tx) => loadContext(tx, { id }))
  if (!row) throw notFound('context', id, 'it was never requested in this project, or its days are over')
  const context = resultOf(row)
  if (context !== undefined) return { id, status: 'built', context }
  if (row.deadlineAtMs >= clock.nowMs()) return { id, status: 'requested' }
  throw new RetryableError('TIMEOUT', `context ${id} was not built by its deadline`, {
    hint: 'ask for it again; `heddle queues` shows what is waiting',
  })
}

export interface GetOptions {
  /** Whether to make it again of what is stored, also where the delivered bytes are still kept. */
  readonly rebuild?: boolean
}

/**
 * A context as it was delivered.
 *
 * @throws PermanentError `NOT_FOUND`, also where parts of it were erased, with what they were; the reason where the context
 *   failed
 */
export async function getContext(
  { store, projectId }: ClientParts,
  given: string,
  { rebuild = false }: GetOptions = {},
): Promise<ContextResult> {
  const id = parse(idSchema, given, 'context')
  const context = resultOf(await store.inProject(projectId, (tx) => loadContext(tx, { id, rebuild })))
  if (!context)
    throw notFound('context', id, 'it was never requested in this project, or is still being built, or was erased')
  return context
}

/**
 * What became of one context in another: what came in, what went out, what changed its form or its place, and the tokens by
 * section.
 *
 * @throws PermanentError as {@link getContext}, for either
 */
export async function compareContexts(parts: ClientParts, before: string, after: string): Promise<ContextDiff> {
  return diffContexts(await getContext(parts, before), await getContext(parts, after))
}

function resultOf(row: ContextRow | null): ContextResult | undefined {
  if (row?.error) throw errorFromData(row.error)
  return row?.result ?? undefined
}
