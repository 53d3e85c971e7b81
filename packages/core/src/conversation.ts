import { ineligibleReason } from './eligibility.js'
import type { Message } from './message.js'
import { inConversationOrder } from './order.js'
import { isAssistantSide, pairToolCalls, type ToolPairs, turnBoundaries } from './turns.js'

/** The eligible messages of a thread, read once: in order, paired, with the places where a cut is legal. */
export interface Conversation {
  readonly messages: readonly Message[]
  readonly pairs: ToolPairs
  /** `true` at `index`: a cut right after that message splits no turn. */
  readonly boundaries: readonly boolean[]
  /** Messages that no compaction may touch: pinned ones, with the turns they belong to. */
  readonly keptRaw: ReadonlySet<string>
}

/** @param messages of one thread in any order; those that are not eligible are passed over */
export function readConversation(messages: readonly Message[]): Conversation {
  const eligible = inConversationOrder(messages.filter((message) => ineligibleReason(message) === null))
  const pairs = pairToolCalls(eligible)
  const boundaries = turnBoundaries(eligible, pairs)
  return { messages: eligible, pairs, boundaries, keptRaw: pinnedTurns(eligible, pairs, boundaries) }
}

/**
 * A pin on a call or on one of its results holds the whole run of calls, since a provider takes it whole or not at all. What
 * the run begins with up to a place where it may be cut is not held: a pin must not reach back past a compaction.
 */
function pinnedTurns(messages: readonly Message[], pairs: ToolPairs, boundaries: readonly boolean[]): Set<string> {
  const kept = new Set<string>()
  let run: Message[] = []
  const keepRunIfPinned = () => {
    const members = run.flatMap((message) => [
      message,
      ...(pairs.byCallMessage.get(message.id) ?? []).flatMap((pair) => (pair.result ? [pair.result] : [])),
    ])
    if (members.some((message) => message.pinned)) for (const member of members) kept.add(member.id)
    run = []
  }
  for (const [at, message] of messages.entries()) {
    if (isAssistantSide(message)) {
      run.push(message)
      if (boundaries[at]) keepRunIfPinned()
      continue
    }
    keepRunIfPinned()
    if (message.pinned && !pairs.byResult.has(message.id)) kept.add(message.id)
  }
  keepRunIfPinned()
  return kept
}
