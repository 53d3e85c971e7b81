import { withCondensedCalls } from '../conversation/calls.js'
import type { Message } from '../conversation/message.js'
import type { PruneDecision } from '../prune/decide.js'
import { countTokens } from '../tokens/tokens.js'
import { countMessageTokens } from './costs.js'
import { keepsText, type Pruning } from './state.js'

type Planned = Omit<PruneDecision, 'archive'> & { readonly tokens: number }

/** A planned pruning once it is in force: without the drafts for the archive. */
export function toPruning({ messageId, action, text, calls, tokens, reason }: Planned): Pruning {
  const lines = calls.map(({ archive: _, ...call }) => call)
  return { messageId, action, text, calls: lines.length === 0 ? null : lines, tokens, reason }
}

/**
 * The parts of a condensed message that a context has beside its signed reasoning: its text or the one that replaces it, which names
 * its parts, and its calls.
 */
export function remainingOf(message: Message, pruning: Pick<Pruning, 'action' | 'text' | 'calls'>): Message {
  const toolCalls = withCondensedCalls(message.toolCalls, pruning.calls ?? [])
  if (keepsText(pruning)) return { ...message, toolCalls, thinking: [] }
  return { ...message, content: pruning.text, toolCalls, thinking: [], parts: [] }
}

/** The tokens that a decision leaves of a message, without its reasoning. */
export function remainingTokens(decision: PruneDecision, message: Message | undefined): number {
  if (!message || decision.action === 'remove') return 0
  return countMessageTokens(remainingOf(message, decision), countTokens).tokens
}
