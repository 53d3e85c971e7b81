import {
  type ContextRequest,
  type ContextResult,
  contextRequestSchema,
  errorFromData,
  idSchema,
  notFound,
  parse,
} from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { type ContextRow, loadContext, requestContext } from '@heddle/store'
import { newId } from './ids.js'
import { type ClientParts, checkDeadline, DEADLINE_MS_DEFAULT } from './options.js'

export interface BuildOptions {
  /** How long to wait for the context, in milliseconds. */
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
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
  { deadlineMs = DEADLINE_MS_DEFAULT, signal }: BuildOptions = {},
): Promise<ContextResult> {
  const checked = parse(contextRequestSchema, request, 'context request')
  checkDeadline(deadlineMs)
  const id = newId()
  const { store, queues, projectId } = parts
  let isRequested = false
  const ask = async () => {
    await store.inProject(projectId, (tx) =>
      requestContext(tx, {
        id,
        threadId: threadIdOf(projectId, checked.thread),
        request: checked,
        deadlineAtMs: Date.now() + deadlineMs,
      }),
    )
    isRequested = true
    await queues.add('assemble', { projectId, contextId: id, replyTo: queues.inbox })
  }
  const expected = queues.expectReply({
    requestId: id,
    deadlineMs,
    ...(signal !== undefined && { signal }),
    read: async () => {
      const wasRequested = isRequested
      const row = await store.inProject(projectId, (tx) => loadContext(tx, { id }))
      // Erased meanwhile: with its thread, which asking again says, or since it was about to show another one that was.
      if (row === null && wasRequested) await ask()
      return resultOf(row)
    },
  })
  const send = async () => {
    await ask()
    return await expected.result
  }
  try {
    // A server that takes long to refuse must not keep the caller past the deadline.
    return await Promise.race([expected.result, send()])
  } finally {
    expected.cancel()
  }
}

/** @throws PermanentError `NOT_FOUND`; the reason where the context failed */
export async function getContext(parts: ClientParts, id: string): Promise<ContextResult> {
  const context = await readContext(parts, parse(idSchema, id, 'context'))
  if (!context) throw notFound('context', id, 'it was never requested in this project, or is still being built')
  return context
}

async function readContext({ store, projectId }: ClientParts, id: string): Promise<ContextResult | undefined> {
  return resultOf(await store.inProject(projectId, (tx) => loadContext(tx, { id })))
}

function resultOf(row: ContextRow | null): ContextResult | undefined {
  if (row?.error) throw errorFromData(row.error)
  return row?.result ?? undefined
}
