import { type AppendWarning, hiddenReasons, mergeSettings, type PlacedMessage } from '@heddle/contracts'
import { agentIdOf, hiddenReason, ineligibleReason, remedies, threadIdOf } from '@heddle/core'
import { within } from '@heddle/runtime'
import { loadAgentWindow } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/**
 * Younger messages are in any window that people set, so the usual append asks nothing more of the store. A window that is
 * shorter than this warns in receipts alone.
 */
const YOUNG_MS = 10_000

export interface WarnedAppend {
  readonly agent: string
  readonly thread: string
  readonly placed: readonly PlacedMessage[]
  /** Of an agent that is not there yet. */
  readonly newAgentRollingWindow?: number | null | undefined
  /** How long the store may take to say how the window stands, in milliseconds; past that there are no warnings. */
  readonly timeoutMs: number
}

/** What contexts will not show of an append, by reason. It never fails: the messages are on their way or stored. */
export async function windowWarnings(parts: EngineContext, append: WarnedAppend): Promise<AppendWarning[]> {
  const nowMs = parts.clock.nowMs()
  const old = append.placed.filter(
    ({ message: { role, keptAside = null }, orderedAt }) =>
      ineligibleReason({ role, keptAside }) === null && Date.parse(orderedAt) < nowMs - YOUNG_MS,
  )
  if (old.length === 0) return []
  const window = await windowInTime(parts, append)
  if (window === null) return []
  const reasons = old.map(({ orderedAt }) =>
    // A sequence number comes after any clear there was; what counts here is the time that the message claims.
    hiddenReason({ seq: 1, orderedAtMs: Date.parse(orderedAt) }, { ...window, clearedSeq: 0, nowMs }),
  )
  return hiddenReasons.flatMap((reason): AppendWarning[] => {
    const count = reasons.filter((each) => each === reason).length
    return count === 0 ? [] : [{ reason, count, ...wordsOf(reason, append, window) }]
  })
}

interface Window {
  readonly rollingWindow: number | null
  readonly lastClearedAtMs: number | null
  readonly windowOf: 'agent' | 'thread'
}

function wordsOf(
  reason: AppendWarning['reason'],
  { agent, thread }: WarnedAppend,
  { rollingWindow, windowOf }: Window,
) {
  const detail =
    reason === 'outside-window'
      ? `older than the rolling window of ${rollingWindow} seconds: contexts do not show these messages`
      : 'sent before the last clear of the agent: contexts do not show these messages'
  const counts = { outsideWindow: Number(reason === 'outside-window'), beforeClear: Number(reason === 'before-clear') }
  return { detail, hint: remedies({ agent, thread, windowOf, ...counts }).join('; ') }
}

async function windowInTime(parts: EngineContext, append: WarnedAppend): Promise<Window | null> {
  const loading = loadWindow(parts, append).catch((error: unknown) => {
    parts.log?.debug({ error }, 'the window of an append could not be read: it has no warnings')
    return null
  })
  return await within(loading, { timeoutMs: append.timeoutMs, late: () => null, clock: parts.clock })
}

async function loadWindow(
  { store, projectId, settings }: EngineContext,
  { agent, thread, newAgentRollingWindow }: WarnedAppend,
): Promise<Window> {
  const ids = { agentId: agentIdOf(projectId, agent), threadId: threadIdOf(projectId, thread) }
  const found = await store.inProject(projectId, (tx) => loadAgentWindow(tx, ids))
  const { agentSettings, threadSettings, lastClearedAtMs } = found ?? {
    agentSettings: newAgentRollingWindow === undefined ? {} : { rollingWindow: newAgentRollingWindow },
    threadSettings: {},
    lastClearedAtMs: null,
  }
  const { rollingWindow } = mergeSettings(settings, agentSettings, threadSettings)
  return { rollingWindow, lastClearedAtMs, windowOf: threadSettings.rollingWindow === undefined ? 'agent' : 'thread' }
}
