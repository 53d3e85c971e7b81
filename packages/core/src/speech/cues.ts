/** Cues in a sentence. They are hints of one language, so each only adds weight; none decides alone. */

const REQUIREMENT =
  /\b(?:must(?:n't)?|should(?:n't)?|need(?:s|ed)? to|have to|has to|do(?:es)? ?n[o']t|never|always|only|make sure|ensure|require[sd]?|want(?:ed)?|prefer|instead|at (?:most|least)|no more than|without|deadline|important|budget|limit|avoid)\b/i
const ASKING =
  /^(?:and |then |also |ok(?:ay)?,? |now |so |but |yes,? |no,? |hey,? |hi,? |hmm,? )*(?:please|pls|can|could|would|will you|let'?s|i'?d like|i want|i need|we need|help|add|fix|make|create|update|implement|write|remove|delete|change|use|run|check|look|find|show|explain|tell|give|move|rename|refactor|test|commit|push|merge|revert|review|try|do|don'?t|continue|investigate|build|deploy|install|summari[sz]e|describe|book|cancel|send|set|why|what|how|when|where|which|who|is|are|does|did|should)\b/i
const DECISION =
  /\b(?:decided?|decision|chose|chosen|choose|going (?:to|with)|go(?:ing)? with|we(?:'ll| will)|i(?:'ll| will)|let'?s (?:use|go|keep)|instead of|rather than|the (?:best|right|simplest|cleanest) (?:approach|solution|fix|way|option)|approach|trade-?off|agreed|plan is|keep(?:ing)? (?:the|it)|switch(?:ed|ing)? to|prefer|recommend|because|so that|opted)\b/i
const PROBLEM =
  /\b(?:root cause|the (?:problem|issue|bug|cause)|bug|broken|fails?|failing|failed|error|crash(?:es|ed)?|regression|missing|wrong|incorrect(?:ly)?|unexpected|not (?:found|working|supported)|panic|leak|race|timed out|conflict)\b/i
const RESOLUTION = /\b(?:fix(?:ed|es)?|resolved?|solved|corrected|works now|now (?:passes|works|handles)|no longer)\b/i
const STATE =
  /\b(?:done|complete[d]?|finished|implemented|all tests pass(?:ed|ing)?|pass(?:es|ed)?|committed|pushed|merged|created|updated|added|removed|renamed|refactored|summary of (?:the )?changes|now (?:uses|has|returns|works)|ready|deployed|in progress|next step|remaining|still)\b/i
const OPEN =
  /\b(?:todo|open question|not (?:yet|sure)|unclear|remaining|still need|next steps?|pending|follow-?up|waiting for|blocked)\b/i
/** Announcements of the next small step: worthless later. */
const FILLER =
  /^(?:(?:ok(?:ay)?|great|good|perfect|excellent|now|first|next|then|sure|alright|yes|right|thanks?(?: you)?|done|hmm)[,.!:]? ?)*(?:(?:let me|let's|i'?ll|i will|i'm going to|i need to|i should|now i|we can) (?:now |also |first |just |then |quickly )*(?:check|look|see|read|run|try|search|find|view|examine|explore|verify|start|take|fix|update|create|add|do|help|continue|get|understand|build|test|rerun|re-run|also|edit|remove|format|make|think|proceed|review|investigate)\b.{0,140})?[.:!]?$/i
/** Courtesies, and requests for an answer that has been given since. */
const COURTESY =
  /\b(?:let me know|feel free|anything else|happy to (?:help|assist)|you'?re welcome|please (?:confirm|provide|share|let)|how can i (?:help|assist)|have a (?:great|nice|good|wonderful))\b/i
/** Replies that mean nothing without the message they answer. */
const NOD =
  /^(?:y|n|yes|no|yep|yeah|ok(?:ay)?|sure|thanks?(?: you)?|great|perfect|good|continue|go on|go ahead|proceed|please|do it|nice|cool|done|\d|hi|hello|hey|lgtm)[\s.!,]*(?:please|thanks?|do (?:it|that)|go ahead|continue)?[\s.!]*$/i

/** Names, numbers, paths, quoted code: details that cannot be reconstructed once they are lost. */
const DETAIL =
  /`[^`]{2,80}`|"[^"]{2,80}"|https?:\/\/\S+|[\w.-]*\/[\w./-]+|\b[a-z]+[A-Z]\w*|\b\w+_\w+|\b[A-Z]{2,}[A-Z0-9-]*\b|(?<=[a-z,;] )\p{Lu}\p{L}+|[$€£]?\b\d[\d.,:%-]*/gu
const DETAILS_MAX = 8

export interface Cues {
  readonly requirement: boolean
  readonly asking: boolean
  readonly decision: boolean
  readonly problem: boolean
  readonly resolution: boolean
  readonly state: boolean
  readonly open: boolean
  readonly question: boolean
  readonly filler: boolean
  readonly nod: boolean
  /** Number of details, at most eight. */
  readonly details: number
}

/** A sentence is far shorter; the expressions take quadratic time on an endless word. */
const READ_CHARACTERS_MAX = 1_000

export function cuesOf(whole: string): Cues {
  const sentence = whole.slice(0, READ_CHARACTERS_MAX)
  let details = 0
  for (const _ of sentence.matchAll(DETAIL)) if (++details === DETAILS_MAX) break
  return {
    requirement: REQUIREMENT.test(sentence),
    asking: ASKING.test(sentence),
    decision: DECISION.test(sentence),
    problem: PROBLEM.test(sentence),
    resolution: RESOLUTION.test(sentence),
    state: STATE.test(sentence),
    open: OPEN.test(sentence),
    question: /\?["')]?$/.test(sentence),
    filler: FILLER.test(sentence) || COURTESY.test(sentence),
    nod: NOD.test(sentence),
    details,
  }
}
