/**
 * How much a user's text requests by itself. "Commit this", "1 and 2", "yes, go on" and a bare path depend on earlier
 * text; "make the parser accept tabs" does not, and neither does "is the parser slow?", though it asks only for an
 * answer. Texts are weighed by simple formal signs, so that the same text always has the same weight.
 */
export type Substance = 'task' | 'question' | 'follow-up' | 'courtesy'

const SUBSTANCE_MIN = 5
/** More words do not add weight to a request. */
const CONTENT_WORDS_MAX = 12
const READ_CHARACTERS_MAX = 1_200

const COURTESY =
  /^(?:(?:ok(?:ay)?|great|good|perfect|nice|cool|awesome|wow|thanks?|thank you|thx|ty|cheers|hi|hello|hey|bye|goodbye|see you|welcome|lgtm|sounds good|well done|good (?:job|work|morning|night)|no problem|very much|so much|for|your|the|all|a lot|that'?s all|i needed|help|have a (?:great|good|nice) (?:day|one|trip|flight))[\s.,!?👍🙏😀😊-]*)+(?:###\w+###)?$/iu

/** Openings that answer an earlier message; a request may follow them. */
const ANSWER =
  /^(?:(?:y|n|yes|yeah|yep|yup|no|nope|ok(?:ay)?|sure|right|correct|exactly|true|great|good|perfect|fine|cool|nice|hmm+|ah+|oh|uh|um+|ugh|well|wait|sorry|actually|thanks?|thank you|please|hey|hi|hello|now|so|then|also|q|question|one more thing)\b[\s.,:;!?—–-]*)+/i
const REFERRING =
  /^(?:and (?:those|that|this|it|these|the)|but|or|though|so (?:it|that|this)|it(?:'?s| is| was| also| just)?|that(?:'?s)?|this|those|these|which|i mean|to be clear|correction|fyi|because|since|not|do you mean|are you|the (?:first|second|third|last|latter|former) (?:one|option))\b/i
/** Words that refer to earlier text; a `that` before a clause does not. */
const POINTING = /\b(?:this|it|these|those|too)\b|\bthat\b(?! (?:the|an?|we|it|i|you)\b)/gi
const AGREEING = /^(?:y|n|yes|yeah|yep|yup|no|nope|ok(?:ay)?|sure|right|correct|exactly|great|good|fine)\b/i
const CLARIFYING = /^(?:sorry|i mean|to be clear|correction|fyi)\b/i

const ASK_WORDS =
  'add|adjust|allow|analy[sz]e|apply|book|build|bump|calculate|cancel|change|check|clean|collect|compare|configure|convert|create|debug|define|delete|deploy|describe|design|document|draft|drop|enable|ensure|estimate|evaluate|execute|explain|explore|extend|extract|figure out|find|fix|format|generate|give|handle|help|implement|improve|include|increase|inspect|install|integrate|investigate|list|look|make|measure|mend|merge|migrate|modify|move|open|optimi[sz]e|plan|polish|port|prepare|print|profile|provide|reduce|refactor|remove|rename|repair|replace|reproduce|research|restructure|rewrite|review|run|search|send|set|show|simplify|solve|sort|split|start|stop|suggest|summari[sz]e|support|switch|take|tell|test|track|translate|try|turn|update|upgrade|use|validate|verify|walk|write'
const IMPERATIVE = new RegExp(`^(?:(?:then|and|also|first|next|just|please|pls|kindly) )*(?:${ASK_WORDS})\\b`, 'i')
const WISH =
  /\b(?:can|could|would|will) (?:you|we|i)\b|\b(?:i|we)(?:'?d| would)? (?:want|need|like|love|prefere?|wish|have) to\b|\b(?:i|we)(?:'?d| would) (?:like|love|prefere?)\b|\b(?:i|we) (?:want|need|wish)\b|\b(?:i'?m|i am|we'?re|we are|i was|i'?ve been) (?:trying|looking|hoping|wondering|planning|working|building|struggling|having|getting|creating|implementing)\b|\bhelp (?:me|us)\b|\b(?:should|shouldn'?t) (?:we|i|it)\b|\blet'?s (?!see\b|not\b|go\b|move on\b)|\bplease\b|\bis there (?:a |any ?)?way\b|\bany ?way (?:we|to|for|i)\b|\bmake sense to\b|\bi wonder\b/i
const HOW = /^(?:why|how|what|where|when|who|which)\b/i
/** A how-to question asks only for an answer: its `can I` and `do I need` are no requests. */
const HOW_TO = /^(?:how|what|where|when|who|which)\b[^.?!]{0,200}[.?!]?/i
const PROBLEM =
  /\b(?:fail(?:s|ed|ing|ure)?|broken?|bugs?|issues?|errors?|fatal|crash(?:es|ed|ing)?|wrong|incorrect|(?:does|do|did|is|was) ?n[o']t (?:work|handle|match|build|compile|pass|run|load|start|exist|show|respond|happening)|not working|can(?:'?t|not)|unable|stuck|missing|leak(?:s|ing)?|slow|hangs?|regression|problems?|panics?)\b/i
const REQUIREMENT = /\b(?:must|should|need(?:s|ed)? to|has to|have to|instead of|without|never|always)\b/i

/** Small steps at the end of some work, which do not describe it. */
const ERRAND =
  /^(?:(?:please|then|now|just|and|also|let'?s|can you|could you|go ahead and) )*(?:commit|push|merge|rebase|close|ship|continue|proceed|resume|retry|go|keep|redo|rerun|re-run|undo|stop|log|file|open|raise|approve|submit|release)\b/i
const ERRAND_WORDS_MAX = 4

/** Words without a subject. In other languages every word counts. */
const EMPTY_WORDS = new Set(
  'a about actually again all also am an and any anything are as at be been being bit both but by can commit could did do does doing don done each either else ensure ever every everything few first for from get getting give go going good got had has have having he hello help her here hi his how however i if in into is it its just keep kind kinda know last later least let like little ll look looks lot make many may maybe me mean might more most much must my need needs new next no not nothing now of off ok okay on once one only option or other our out over own please pls pretty push put quite re really right said same say see seem seems she should shouldn so some something still such sure take than thank thanks that the their them then there these they thing things think this those though through to too try two up us use ve very want was way we well were what when where whether which while who why will with would wouldn yes yet you your yours'.split(
    ' ',
  ),
)
const PATH = /(?:https?:\/\/|~?\/|[A-Za-z]:\\|\.{1,2}\/)[^\s'"`]{1,400}/g
const WORD = /[\p{L}\p{N}_][\p{L}\p{N}_.'’:-]*/gu
const IDEOGRAPHS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu

/** @param words a user's text, on one line */
export function substanceOf(words: string): Substance {
  const read = words.slice(0, READ_CHARACTERS_MAX).toWellFormed().trim()
  if (read === '' || COURTESY.test(read)) return 'courtesy'
  const answer = ANSWER.exec(read)?.[0] ?? ''
  const rest = read.slice(answer.length)
  const contents = contentWordsIn(rest)
  if (contents === 0) return 'follow-up'
  const asks = asksIn(rest)
  const isReferring = REFERRING.test(rest) || CLARIFYING.test(read) || /^hmm+,? but\b/i.test(read)
  if (isReferring && !asks) return 'follow-up'
  if (ERRAND.test(rest) && contents <= ERRAND_WORDS_MAX && !/\?/.test(rest)) return 'follow-up'
  const problem = PROBLEM.test(rest)
  const question = /\?/.test(rest) || HOW.test(rest)
  if (!asks && !problem && !question && !REQUIREMENT.test(rest)) return 'follow-up'
  const short = contents <= 4
  const pointing = short ? (rest.match(POINTING)?.length ?? 0) : 0
  const weight =
    Math.min(contents, CONTENT_WORDS_MAX) +
    (asks ? 2 : 0) +
    (problem ? 2 : 0) +
    (question ? 1 : 0) +
    (REQUIREMENT.test(rest) ? 1 : 0) -
    (isReferring ? 3 : 0) -
    (short && AGREEING.test(answer) ? 1 : 0) -
    pointing
  if (weight < SUBSTANCE_MIN) return 'follow-up'
  return asks || problem ? 'task' : 'question'
}

function asksIn(words: string): boolean {
  return (
    WISH.test(words.replace(HOW_TO, '')) ||
    words.split(/[.!?;]\s+|,? (?:and|then) /, 12).some((clause) => IMPERATIVE.test(clause.trim()))
  )
}

/** Counts words that carry a subject; a path counts as one, whatever it contains. */
export function contentWordsIn(text: string): number {
  const withoutPaths = text.replace(PATH, ' ')
  const ideographs = withoutPaths.match(IDEOGRAPHS)?.length ?? 0
  const words = withoutPaths.replace(IDEOGRAPHS, ' ').toLowerCase().match(WORD) ?? []
  const contents = new Set(words.map((word) => word.replace(/[.'’:-].{0,2}$/, '')).filter(isContent))
  return contents.size + Math.floor(ideographs / 2)
}

function isContent(word: string): boolean {
  return word.length > 1 && !/^[\d.]+$/.test(word) && !EMPTY_WORDS.has(word)
}
