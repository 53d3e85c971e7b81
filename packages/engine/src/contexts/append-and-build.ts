import { asTurn, checkDeadline, idsOfKey } from '@heddle/client/calls'
import type { AppendMessages, BuildOptions, BuildRequest, WithAppended } from '@heddle/client/interface'
import { DEADLINE_MS_DEFAULT } from '@heddle/client/interface'
import {
  type AppendResult,
  type ContextRequest,
  type ContextResult,
  contextRequestSchema,
  errorFromData,
  HeddleError,
  limits,
  parse,
  validationError,
} from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { appendMessages } from '../messages/messages.js'
import type { EngineContext } from '../setup/options.js'
import { buildContext } from './build-context.js'
import { startContextRequest } from './contexts.js'
import { refuseStoredPreview } from './preview-context.js'

/**
 * Appends the messages of a request, if it has any, waits until they are stored, and builds the context.
 *
 * @throws as the append, whose fields begin with `append`: then nothing was built; as `buildContext`, with the fact
 *   `appended` if messages were stored before
 */
export async function appendAndBuild(
  parts: EngineContext,
  request: BuildRequest,
  options: BuildOptions = {},
): Promise<ContextResult & WithAppended> {
  const { deadlineMs = DEADLINE_MS_DEFAULT, ...others } = options
  const build = (checked: ContextRequest, leftMs: number, contextId: string | undefined) =>
    buildContext(parts, checked, { ...others, deadlineMs: leftMs, contextId })
  const { outcome, appended } = await afterAppend(parts, request, { ...others, deadlineMs, isAwaited: true }, build)
  return appended === null ? outcome : { ...outcome, appended }
}

/**
 * The same without waiting for the context, only for the messages.
 *
 * @returns the id of the context
 */
export async function appendAndOrder(
  parts: EngineContext,
  request: BuildRequest,
  { deadlineMs = limits.waitMsMax, ...others }: Pick<BuildOptions, 'deadlineMs' | 'idempotencyKey'> = {},
): Promise<string> {
  const { outcome } = await afterAppend(
    parts,
    request,
    { ...others, deadlineMs, isAwaited: false },
    (checked, leftMs, contextId) => startContextRequest(parts, checked, { deadlineMs: leftMs, contextId }),
  )
  return outcome
}

async function afterAppend<Outcome>(
  parts: EngineContext,
  { append, appendFormat, ...request }: BuildRequest,
  {
    deadlineMs,
    signal,
    onBusy,
    idempotencyKey,
    isAwaited,
  }: BuildOptions & {
    readonly deadlineMs: number
    readonly isAwaited: boolean
  },
  work: (checked: ContextRequest, leftMs: number, contextId: string | undefined) => Promise<Outcome>,
): Promise<{ readonly outcome: Outcome; readonly appended: AppendResult | null }> {
  // Before anything is stored: a request that is refused has no effect.
  const checked = parse(contextRequestSchema, request, 'context request')
  refuseStoredPreview(checked, { isAppended: append !== undefined, isAwaited })
  checkDeadline(deadlineMs)
  // Projects may use the same keys and names of threads.
  const scope = threadIdOf(parts.projectId, checked.thread)
  const contextId = idempotencyKey === undefined ? undefined : idsOfKey(idempotencyKey, 'context', scope)(0)
  if (append === undefined) {
    if (appendFormat !== undefined) throw validationError('appendFormat', 'needs messages in append', appendFormat)
    return { outcome: await work(checked, deadlineMs, contextId), appended: null }
  }
  const { thread, agent } = checked
  if (agent === undefined) throw validationError('agent', 'is needed to append messages', agent)
  if (checked.at !== undefined)
    throw validationError('at', 'must be omitted with append: new messages cannot be added to the past', checked.at)
  const endsAtMs = parts.clock.monotonicMs() + deadlineMs
  const given = { format: appendFormat ?? 'neutral', messages: append } as AppendMessages
  const appended = await appendMessages(parts, {
    ...given,
    agent,
    thread,
    deadlineMs,
    ...(signal && { signal }),
    ...(onBusy && { onBusy }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  }).catch((error: unknown) => {
    throw asTurn(error)
  })
  try {
    const leftMs = Math.max(1, endsAtMs - parts.clock.monotonicMs())
    return { outcome: await work(checked, leftMs, contextId), appended }
  } catch (error) {
    throw withFact(error, appended)
  }
}

function withFact(error: unknown, appended: AppendResult): unknown {
  if (!(error instanceof HeddleError)) return error
  const data = error.toJSON()
  return errorFromData({ ...data, facts: { ...data.facts, appended } })
}
