import { type ContextFor, type ContextRequest, limits, type MessageInput } from '@heddle/contracts'
import { readAppend } from '../calls/append-input.js'
import { checkDeadline } from '../calls/deadline.js'
import { asTurn } from '../calls/turn-error.js'
import type { BuildOptions, BuildRequest, WithAppended } from '../interface/contexts.js'
import type { CallOperation } from './call.js'
import { preferWait } from './transport.js'

/**
 * Builds a context, after appending the messages of the request. Each message gets its id here, so that a request whose
 * answer was lost can be repeated.
 */
export async function buildOverHttp<Request extends BuildRequest>(
  call: CallOperation,
  request: Request,
  { deadlineMs, signal, idempotencyKey }: BuildOptions,
): Promise<ContextFor<Request> & WithAppended> {
  const given = { ...bodyOf(request, idempotencyKey), deadlineMs, prefer: preferWait, signal }
  // In the format that the request names.
  return (await call('buildContext', given)).body as ContextFor<Request> & WithAppended
}

/** @returns the id of the context */
export async function orderOverHttp(
  call: CallOperation,
  request: BuildRequest,
  { deadlineMs = limits.waitMsMax, idempotencyKey }: Pick<BuildOptions, 'deadlineMs' | 'idempotencyKey'>,
): Promise<string> {
  checkDeadline(deadlineMs)
  const prefer = () => `respond-async, ${preferWait(deadlineMs)}`
  return (await call('buildContext', { ...bodyOf(request, idempotencyKey), prefer })).body.id
}

function bodyOf(request: BuildRequest, idempotencyKey: string | undefined) {
  const { thread, append, appendFormat, ...body }: ContextRequest & TurnFields = request
  const messages = append === undefined ? { appendFormat } : { append: messagesOf(request, idempotencyKey) }
  return {
    params: { thread },
    body: { ...body, ...messages },
    ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
    retry: idempotencyKey === undefined ? ('refused' as const) : ('again' as const),
  }
}

type TurnFields = Pick<BuildRequest, 'append' | 'appendFormat'>

/** Messages read from a provider's format are sent in Heddle's own, with their ids. */
function messagesOf(
  { thread, agent, append, appendFormat }: BuildRequest,
  idempotencyKey: string | undefined,
): MessageInput[] {
  try {
    return [...readAppend({ agent, thread, messages: append, format: appendFormat, idempotencyKey }).messages]
  } catch (error) {
    throw asTurn(error)
  }
}
