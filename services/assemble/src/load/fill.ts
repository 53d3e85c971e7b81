import type { ContextRequest, Fill, PartialSettings } from '@heddle/contracts'
import {
  type CompactionState,
  chooseFill,
  ineligibleReason,
  type Lane,
  type Message,
  type Position,
} from '@heddle/core'
import type { WorkSize } from '@heddle/queue'
import { type Cleared, type Compaction, loadCoveredPage, loadPreviousFill, type Tx, uncoveredSize } from '@heddle/store'

/**
 * How a context fills its budget: as requested, else by the agent's settings, else by whether the thread continues at
 * that budget. It does at the budget of the settings, for which it is compacted in the background.
 */
export async function fillOf(
  tx: Tx,
  { thread, settings, lane }: Compaction,
  request: ContextRequest,
  defaults: PartialSettings,
): Promise<Fill> {
  const asked = request.fill ?? settings.fill
  if (asked !== null) return asked
  const named = thread.settings.budget ?? thread.agentSettings.budget ?? defaults.budget ?? null
  if (named !== null && settings.budget === named) return 'cache'
  const previous = await loadPreviousFill(tx, { threadId: thread.threadId, budget: lane.limitTokens })
  return chooseFill(previous, thread.headSeq)
}

/** Estimated input of a context: uncovered messages, and covered ones that are shown again. */
export function sizeToRead({ thread, current, lane }: Compaction, fill: Fill): WorkSize {
  const { messages, tokens } = uncoveredSize(thread, current)
  const covered = fill === 'budget' ? Math.min(current?.coveredTokens ?? 0, lane.limitTokens) : 0
  return { messages, tokens: tokens + covered }
}

/** Whether background compaction serves requests like this one: in the thread's own lane, or in one kept for requests. */
export function isLaneKept({ own, lane }: Compaction): boolean {
  return own === null || own.kept.some((one) => one.lane === lane.key)
}

/** Messages of one page; each page costs a round trip. */
const PAGE_MESSAGES = 1_000

/** The newest messages that a summary covers, as many as fit the limit of a lane beside the uncovered ones. */
export async function loadNewestCovered(
  tx: Tx,
  query: Cleared & { readonly state: CompactionState },
  { limitTokens }: Lane,
): Promise<Message[]> {
  const messages: Message[] = []
  let tokens = 0
  let before: Position | null = null
  for (;;) {
    const page = await loadCoveredPage(tx, { ...query, limit: PAGE_MESSAGES, before })
    for (const message of page.messages.toReversed()) {
      messages.push(message)
      // The reasoning of past turns is dropped first, so its tokens do not count: more messages are read instead.
      tokens += ineligibleReason(message) === null ? message.tokens - message.reasoningTokens : 0
      if (tokens > limitTokens) return messages
    }
    if (page.next === null) return messages
    before = page.next
  }
}
