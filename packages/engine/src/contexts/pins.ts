import type { PinEntry, PinOptions, PinResult, UnpinOptions } from '@heddle/client/interface'
import { notFound, parse, pinSchema, unpinSchema, validationError } from '@heddle/contracts'
import { messageReference, threadIdOf } from '@heddle/core'
import { changePins, listPins as listPinRows, loadThread } from '@heddle/store'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'
import { compactionOf } from './prune-plan.js'
import { rangeOf } from './uncompact.js'

/** Share of a thread's contexts that its pins may take: the rest is for the conversation. */
const SHARE_OF_PINS = 0.5

/**
 * Pins stored messages: contexts show them verbatim, and no compaction changes them until the pin is taken back or ends. A
 * repeat changes nothing.
 *
 * @throws PermanentError `NOT_FOUND`, `AMBIGUOUS_REFERENCE`, `VALIDATION_ERROR` also for pins that are too many or too long
 */
export async function pinMessages(parts: EngineContext, options: PinOptions): Promise<PinResult> {
  const { until, ...checked } = parse(pinSchema, options, 'pin')
  const untilMs = until === undefined ? null : Date.parse(until)
  if (until !== undefined && (untilMs ?? 0) <= parts.clock.nowMs())
    throw validationError('until', 'must be in the future', until)
  return await change(parts, checked, { isPinned: true, untilMs })
}

/**
 * Takes the pins of messages back, also those with which they were appended.
 *
 * @throws PermanentError `NOT_FOUND`, `AMBIGUOUS_REFERENCE`, `VALIDATION_ERROR`
 */
export async function unpinMessages(parts: EngineContext, options: UnpinOptions): Promise<PinResult> {
  return await change(parts, parse(unpinSchema, options, 'unpin'), { isPinned: false, untilMs: null })
}

async function change(
  parts: EngineContext,
  selected: UnpinOptions,
  pin: { readonly isPinned: boolean; readonly untilMs: number | null },
): Promise<PinResult> {
  const { projectId } = parts
  const threadId = threadIdOf(projectId, selected.thread)
  const { agent, changed } = await parts.store.inProject(projectId, async (tx) => {
    const { thread, lane } = await compactionOf(tx, parts, selected)
    const range = await rangeOf(tx, parts, selected)
    const tokensMax = Math.floor(lane.limitTokens * SHARE_OF_PINS)
    const change = { threadId, clearEpoch: thread.clearEpoch, range, tokensMax, ...pin }
    return { agent: thread.agentName, changed: await changePins(tx, change) }
  })
  await parts.queues.wake('prune', { projectId, threadId })
  const action = pin.isPinned ? 'pinned' : 'unpinned'
  return { thread: selected.thread, agent, action, messages: changed.messages, compactions: changed.states }
}

/** The pins of a thread that were set on stored messages. */
export async function listPins(
  { store, projectId }: EngineContext,
  { thread }: { readonly thread: string },
): Promise<{ readonly items: readonly PinEntry[]; readonly nextCursor: null }> {
  const threadId = threadIdOf(projectId, thread)
  const [found, pins] = await store.inProject(projectId, (tx) =>
    Promise.all([loadThread(tx, { threadId }), listPinRows(tx, threadId)]),
  )
  if (!found) throw notFound('thread', thread, 'see `heddle threads list`')
  const items = pins.map(({ messageId, seq, code, role, text, changedAtMs, untilMs }) => ({
    messageId,
    seq,
    reference: messageReference(code),
    role,
    text,
    pinnedAt: isoTime(changedAtMs),
    until: isoTime(untilMs),
  }))
  return { items, nextCursor: null }
}
