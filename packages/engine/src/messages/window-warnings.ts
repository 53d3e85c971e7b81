import { type AppendWarning, hiddenReasons, mergeSettings, type PlacedMessage } from '@heddle/contracts'
import { agentIdOf, hiddenReason, ineligibleReason, remedies, threadIdOf } from '@heddle/core'
import { within } from '@heddle/runtime'
import { loadAgentWindow } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/**
 * Younger messages are in any sensible window, so a usual append needs no further query. A window that is shorter than this
 * only causes warnings in receipts.
 */
const YOUNG_MS = 10_000

export interface WarnedAppend {
  readonly agent: string
  readonly thread: string
  readonly placed: readonly PlacedMessage[]
  /** For an agent that does not exist yet. */
  readonly newAgentRollingWindow?: number | null | undefined
  /** Time limit for reading the window, in milliseconds; after it there are no warnings. */
  readonly timeoutMs: number
}

/** The number of messages of an append that contexts will not show, by reason. It never fails: the messages are sent already. */
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
    // New sequence numbers are after any clear; only the time of the message counts here.
    hiddenReason({ seq: 1, orderedAtMs: Date.parse(orderedAt) }, { ...window, clearedSeq: 0, nowMs }),
  )
  return hiddenReasons.flatMap((reason): AppendWarning[] => {
    const count = reasons.filter((each) => each === reason).length
    return count === 0 ? [] : [{ reason, count, ...explain(reason, append, window) }]
  })
}

interface Window {
  readonly rollingWindow: number | null
  readonly lastClearedAtMs: number | null
  readonly windowOf: 'agent' | 'thread'
}

function explain(
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
    parts.log?.debug({ error }, 'the window of an append could not be read; no warnings are returned')
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
