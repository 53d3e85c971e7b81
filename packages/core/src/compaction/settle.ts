import type { Conversation } from '../conversation.js'
import type { Message } from '../message.js'
import { inConversationOrder } from '../order.js'
import { summarizeExtractively } from '../summary/extractive.js'
import { countTokens } from '../tokens.js'
import type { Lane } from './lane.js'
import { type CompactionPlan, nextCompaction, summaryTokensMax } from './plan.js'
import { summarySources } from './sources.js'
import type { CompactionState, Pruning } from './state.js'

/** The state that a plan leads to once its summary, if it needs one, is there. */
export function stateAfter(
  plan: CompactionPlan,
  before: CompactionState | null,
  headSeq: number,
  summary: { text: string; tokens: number } | null,
): CompactionState {
  const prunings = new Map<string, Pruning>(before?.prunings)
  for (const { messageId, action, text, reason, tokens } of plan.prunings) {
    prunings.set(messageId, { messageId, action, text, reason, tokens })
  }
  return {
    point: plan.point,
    headSeq,
    topIds: plan.topIds,
    covered: plan.covered,
    summary: summary?.text ?? before?.summary ?? null,
    summaryTokens: summary?.tokens ?? before?.summaryTokens ?? 0,
    prunings,
  }
}

/**
 * Compacts a conversation to its end in memory, with extractive summaries: what the pipeline would arrive at without a
 * model. It serves where no state exists for what a request asks (DESIGN: the deterministic fallback). Each summary is
 * made anew from all raw messages that it covers and that are at hand.
 */
export function settle(
  conversation: Conversation,
  start: CompactionState | null,
  lane: Lane,
  headSeq: number,
  reference: (message: Message) => string,
): CompactionState | null {
  let state = start
  const coveredSoFar: Message[] = []
  for (;;) {
    const plan = nextCompaction(conversation, state, lane, reference)
    if (!plan) return state
    let summary: { text: string; tokens: number } | null = null
    if (plan.needsSummary) {
      coveredSoFar.push(...plan.newlyCovered)
      const text = summarizeExtractively({
        purpose: 'compaction',
        messages: summarySources(inConversationOrder(coveredSoFar), conversation.pairs, reference),
        previousSummary: start?.summary ?? null,
        tokensMax: summaryTokensMax(lane),
      })
      summary = { text, tokens: countTokens(text) }
    }
    state = stateAfter(plan, state, headSeq, summary)
  }
}
