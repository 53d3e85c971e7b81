import type { Settings } from '@heddle/contracts'
import type { Message } from '../conversation/message.js'
import { countTokens } from '../tokens/tokens.js'
import type { ToolEvent } from './events.js'
import type { SupersededBy } from './supersession.js'

/** A message that may be pruned, with everything that a rule may read. */
export interface Candidate {
  readonly message: Message
  /** Number of newer messages; 0 for the newest. */
  readonly age: number
  /** For a tool's result. */
  readonly event: ToolEvent | null
  readonly supersededBy: SupersededBy | null
  readonly settings: Settings['prune']
}

export interface Verdict {
  readonly action: 'remove' | 'condense'
  /** A fixed phrase, for receipts and counts. */
  readonly reason: string
}

export type PruneRule = (candidate: Candidate) => Verdict | null

/** The rules of docs/pruning.md in order: the first that returns a verdict decides. */
export const pruneRules: readonly PruneRule[] = [
  removeOldFailure,
  removeSupersededView,
  condenseToolResult,
  condenseLongReply,
  condenseParts,
]

/** A call that stays because of its text still loses its input: see the layout of histories. */
export const FAILED_REASON = 'old result of a failed call'

/** The message stays, without the input of its call. */
export const OVERWRITTEN_REASON = 'input superseded by a later write'

function removeOldFailure({ message, age, event, settings }: Candidate): Verdict | null {
  if (!event?.outcome.failed || age <= settings.removeErrorsAfter) return null
  return holdsUserWords(message.content) ? null : { action: 'remove', reason: FAILED_REASON }
}

function removeSupersededView({ supersededBy }: Candidate): Verdict | null {
  if (supersededBy === null) return null
  return { action: 'remove', reason: `superseded by a later ${supersededBy}` }
}

function condenseToolResult({ message, event }: Candidate): Verdict | null {
  if (event === null || holdsUserWords(message.content)) return null
  return { action: 'condense', reason: 'old tool result' }
}

function condenseLongReply({ message, age, settings }: Candidate): Verdict | null {
  if (message.role !== 'assistant' || age <= settings.condenseAfterN) return null
  // A signed reasoning block is bound to the reply beside it, so such a message is unchanged.
  if (message.thinking.length > 0 || !isLonger(message.content, settings.condenseTokensMin)) return null
  return { action: 'condense', reason: 'old long reply' }
}

/** An image is relevant for a few turns; after that its line and its reference suffice. */
function condenseParts({ message, age, settings }: Candidate): Verdict | null {
  if (message.role !== 'user' || message.parts === undefined || age <= settings.condenseAfterN) return null
  return { action: 'condense', reason: 'old image, document or sound' }
}

/**
 * Counted exactly here, since the count of a message may still be an estimate, and a decision must not depend on when
 * it is made.
 */
function isLonger(text: string, tokens: number): boolean {
  // No token is shorter than a byte, and no character longer than three bytes.
  return text.length * 3 > tokens && countTokens(text) > tokens
}

/** Claude Code reports a refused call as a failure with the user's text, which is a request. */
function holdsUserWords(content: string): boolean {
  return /^The user doesn't want to (?:proceed|take this action)/.test(content) && content.includes('the user said:')
}
