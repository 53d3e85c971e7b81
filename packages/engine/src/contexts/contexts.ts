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
import { diffContexts } from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import { loadContext, requestContext } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import type { BuildContextOptions } from './build-context.js'
import { contextAt } from './context-at.js'
import { withPartBytes } from './context-parts.js'
import { jobOf, resultOf, rowOf } from './request-row.js'

/**
 * Asks for a context and does not wait for it: {@link findContext} tells when it is there, as does the event
 * `context.built`. What cannot be built fails later, with its reason in the same place.
 *
 * @param options `deadlineMs`: until then the context is built or never. Default 600,000
 * @returns the id of the context
 * @throws PermanentError `VALIDATION_ERROR`, `NOT_FOUND` where the thread was erased
 */
export async function startContextRequest(
  parts: EngineContext,
  request: ContextRequest,
  { deadlineMs = limits.waitMsMax, contextId }: Pick<BuildContextOptions, 'deadlineMs' | 'contextId'> = {},
): Promise<string> {
  const checked = parse(contextRequestSchema, request, 'context request')
  checkDeadline(deadlineMs)
  if (checked.at !== undefined) return (await contextAt(parts, { ...checked, at: checked.at })).id
  const { store, queues, projectId, log } = parts
  const release = queues.acquireShare({ stage: 'assemble', projectId, bytes: 0 })
  const id = contextId ?? newId()
  const asked = rowOf(parts, id, checked, Date.now() + deadlineMs)
  try {
    await store.inProject(projectId, (tx) => requestContext(tx, asked), { together: true })
    // The row is the request: without the job, the reconciler finds it.
    await queues
      .add('assemble', jobOf(parts, id, checked))
      .catch((error: unknown) => log?.warn({ error, contextId: id }, 'a requested context waits for the reconciler'))
    return id
  } finally {
    // From here on its job counts.
    release()
  }
}

/**
 * How a context stands that was asked for.
 *
 * @throws PermanentError `NOT_FOUND`; the reason where the context failed; RetryableError `TIMEOUT` where nobody built it
 *   by its deadline
 */
export async function findContext(parts: EngineContext, given: string): Promise<RequestedContext> {
  const { store, projectId, clock } = parts
  const id = parse(idSchema, given, 'context')
  const row = await store.inProject(projectId, (tx) => loadContext(tx, { id }))
  if (!row) throw notFound('context', id, 'it was never requested in this project, or its days are over')
  const context = resultOf(row)
  if (context !== undefined) return { id, status: 'built', context: await withPartBytes(parts, context) }
  if (row.deadlineAtMs >= clock.nowMs()) return { id, status: 'requested' }
  throw new RetryableError('TIMEOUT', `context ${id} was not built by its deadline`, {
    hint: 'ask for it again; `heddle queues` shows what is waiting',
  })
}

/**
 * A context as it was delivered.
 *
 * @throws PermanentError `NOT_FOUND`, also where parts of it were erased, with what they were; the reason where the context
 *   failed
 */
export async function getContext(
  parts: EngineContext,
  given: string,
  options: GetOptions = {},
): Promise<ContextResult> {
  return await withPartBytes(parts, await readContext(parts, given, options))
}

/** With slots in the places of the bytes of images and files, which is all that it takes to compare it. */
async function readContext(
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
 * What became of one context in another: what came in, what went out, what changed its form or its place, and the tokens by
 * section.
 *
 * @throws PermanentError as {@link getContext}, for either
 */
export async function compareContexts(parts: EngineContext, before: string, after: string): Promise<ContextDiff> {
  const [left, right] = [await readContext(parts, before, {}), await readContext(parts, after, {})]
  return await runCooperatively(diffContexts(left, right))
}
