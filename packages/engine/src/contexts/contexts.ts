import { checkDeadline, newId } from '@heddle/client/calls'
import type { GetOptions, RequestedContext } from '@heddle/client/interface'
import {
  type ContextDiff,
  type ContextRequest,
  type ContextResult,
  contextRequestSchema,
  idSchema,
  limits,
  notFound,
  parse,
  RetryableError,
} from '@heddle/contracts'
import { diffContexts, requestKey } from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import { loadContext, requestContext } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import type { BuildContextOptions } from './build-context.js'
import { contextAt } from './context-at.js'
import { withPartBytes } from './context-parts.js'
import { jobOf, refuseOtherRequest, resultOf, rowOf } from './request-row.js'

/**
 * Requests a context without waiting for it: {@link findContext} returns it, and the event `context.built` reports it. If it
 * cannot be built, {@link findContext} throws the reason.
 *
 * @param options `deadlineMs`: the context is not built after this time. Default 600,000
 * @returns the id of the context
 * @throws PermanentError `VALIDATION_ERROR`, `NOT_FOUND` if the thread was erased
 */
export async function startContextRequest(
  parts: EngineContext,
  request: ContextRequest,
  { deadlineMs = limits.waitMsMax, contextId }: Pick<BuildContextOptions, 'deadlineMs' | 'contextId'> = {},
): Promise<string> {
  const { store: _, ...checked } = parse(contextRequestSchema, request, 'context request')
  checkDeadline(deadlineMs)
  if (checked.at !== undefined) return (await contextAt(parts, { ...checked, at: checked.at })).id
  const { store, queues, projectId, log } = parts
  const release = queues.acquireShare({ stage: 'assemble', projectId, bytes: 0 })
  const id = contextId ?? newId()
  const asked = rowOf(parts, id, checked, Date.now() + deadlineMs)
  try {
    const { isNew } = await store.inProject(projectId, (tx) => requestContext(tx, asked), { together: true })
    if (!isNew) {
      const row = await store.inProject(projectId, (tx) => loadContext(tx, { id }))
      if (row !== null) refuseOtherRequest(row, checked)
      return id
    }
    // The row is the request: if the job is lost, the reconciler finds it.
    await queues
      .add('assemble', jobOf(parts, id, requestKey(projectId, checked)))
      .catch((error: unknown) =>
        log?.warn({ error, contextId: id }, 'a context request could not be queued; the reconciler will queue it'),
      )
    return id
  } finally {
    // The job is counted by the queue itself.
    release()
  }
}

/**
 * The state of a requested context.
 *
 * @throws PermanentError `NOT_FOUND`; the reason if the context failed; RetryableError `TIMEOUT` if it was not built by its
 *   deadline
 */
export async function findContext(parts: EngineContext, given: string): Promise<RequestedContext> {
  const { store, projectId, clock } = parts
  const id = parse(idSchema, given, 'context')
  const row = await store.inProject(projectId, (tx) => loadContext(tx, { id }))
  if (!row) throw notFound('context', id, 'it was never requested in this project, or its retention time has passed')
  const context = resultOf(row)
  if (context !== undefined) return { id, status: 'built', context: await withPartBytes(parts, context) }
  if (row.deadlineAtMs >= clock.nowMs()) return { id, status: 'requested' }
  throw new RetryableError('TIMEOUT', `context ${id} was not built by its deadline`, {
    hint: 'Request it again. `heddle queues` shows the waiting jobs.',
  })
}

/**
 * A context as it was delivered.
 *
 * @throws PermanentError `NOT_FOUND`, also if parts of it were erased, and then names them; the reason if the context failed
 */
export async function getContext(
  parts: EngineContext,
  given: string,
  options: GetOptions = {},
): Promise<ContextResult> {
  return await withPartBytes(parts, await readContext(parts, given, options))
}

/** With placeholders for the bytes of images and files, which suffices for a comparison. */
export async function readContext(
  { store, projectId }: EngineContext,
  given: string,
  { rebuild = false }: GetOptions,
): Promise<ContextResult> {
  const id = parse(idSchema, given, 'context')
  const context = resultOf(await store.inProject(projectId, (tx) => loadContext(tx, { id, rebuild })))
  if (!context)
    throw notFound('context', id, 'it was never requested in this project, or is still being built, or was erased')
  return context
}

/**
 * The difference between two contexts: added, removed, changed and moved entries, and the tokens by section.
 *
 * @throws PermanentError as {@link getContext}, for either context
 */
export async function compareContexts(parts: EngineContext, before: string, after: string): Promise<ContextDiff> {
  const [left, right] = [await readContext(parts, before, {}), await readContext(parts, after, {})]
  return await runCooperatively(diffContexts(left, right))
}
