import { sentencesOf } from '../speech/sentences.js'
import { contentWordsIn } from '../speech/substance.js'
import { truncate } from '../tools/lines.js'
import type { Reason } from './edits.js'

const REASON_CHARACTERS_MAX = 120
const REASON_WORDS_MIN = 2
/** Sentences before an edit that are searched for its reason. */
const SENTENCES_READ = 4

/** Opening phrases before the content of a sentence. */
const LEAD =
  /^(?:(?:ok(?:ay)?|great|good|perfect|excellent|alright|right|yes|sure|now|next|first|second|third|then|also|finally|so|and|but|hmm|ah|i see|got it|done|interesting)\b[,.!:;—–-]*\s*)+/i
const INTENT =
  /^(?:let me|let's|i'?ll|i will|i'?m going to|i am going to|i need to|i should|i can|we need to|we should|we can|we'll|time to|going to)\s+(?:now |also |first |just |then |next |quickly |simply |go ahead and |continue (?:by|to) )*/i
const WHY =
  /\b(?:because|so that|since|in order to|instead of|rather than|otherwise|no longer|which (?:is|was|means|causes)|due to)\b/i
const PROBLEM = /\b(?:fix(?:es|ed)?|error|fails?|failing|bug|issue|problem|missing|unused|wrong|broken|warning)\b/i
/** Announcing that something will be read is no reason for a change. */
const LOOK =
  /^(?:to )?(?:check|look|see|read|view|run|re-?run|search|find|examine|explore|verify|test|understand|try|start|continue|proceed|review|investigate|commit|push)\b/i

/** Why an edit was made, according to the text before it; null if the text gives no reason. */
export function reasonIn(speech: string): Reason | null {
  let best: Reason | null = null
  for (const sentence of sentencesOf(withLeadIns(speech)).slice(-SENTENCES_READ)) {
    const stripped = sentence.replace(LEAD, '').replace(INTENT, '')
    const text = truncate(stripped.replace(/[.:!]+$/, ''), REASON_CHARACTERS_MAX)
    if (LOOK.test(text) || STATE.test(text) || text.endsWith('?') || contentWordsIn(text) < REASON_WORDS_MIN) continue
    const weight = 1 + (WHY.test(text) ? 2 : 0) + (PROBLEM.test(text) ? 1 : 0)
    if (best === null || weight >= best.weight) best = { text: withSmallStart(text), weight }
  }
  return best
}

/** A sentence that introduces a change ends with a colon and is the most informative. */
function withLeadIns(speech: string): string {
  return speech.replace(/:[^\S\n]*$/gm, '.')
}

/** A statement of the current state is no reason either. */
const STATE =
  /\b(?:tests?|lint|checks?|build)\b[^.]{0,30}\b(?:pass(?:es|ed)?|succeed(?:s|ed)?|green|clean)\b|\bpasses\b/i

/** Lower-cases the first letter of a plain word; names keep theirs. */
function withSmallStart(text: string): string {
  return /^[A-Z][a-z]+(?:\s|$)/.test(text) && !/^[A-Z][a-z]+[A-Z]/.test(text)
    ? `${text.charAt(0).toLowerCase()}${text.slice(1)}`
    : text
}
