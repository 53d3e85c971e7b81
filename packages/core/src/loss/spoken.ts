import {
  endedBy,
  instructionWords,
  lastingInstructions,
  type TakingBack,
  takingsBack,
} from '../search/instructions/index.js'
import { cuesOf } from '../speech/cues.js'
import { readRequest } from '../speech/request-log.js'
import { withoutCopied } from '../speech/request-words.js'
import { sentencesOf } from '../speech/sentences.js'
import type { SummarySource } from '../speech/source.js'
import { plainWords } from '../summarizing/pinned.js'
import type { AtomSet } from './atom.js'

/** Requirements that hold beyond the step that a person asks for, other than questions. */
const CONSTRAINT =
  /\b(?:must(?:n'?t| not)?|make sure|ensure|at (?:most|least)|no (?:more|less|fewer) than|not allowed|is (?:required|forbidden)|needs? to be|should(?:n'?t| not)? (?:not |also |only |always |never )?(?:be(?! (?:ok|okay|fine|good|enough|possible|safe)\b)|use|include|return|support|contain|keep|show|work)|should(?:n'?t| not)|avoid|i(?:'d| would)? prefer|only (?:use|if|when|for|the|in|on)|use only|keep (?:it|the|this|them|in mind))\b/i
/** Orders not to do something, which begin a sentence or a clause. */
const FORBIDDING = /(?:^|[,;:.()–—-]\s?|\b(?:please|and|but|so|you|just)\s)(?:do not|don['’]?t|never|always)\s\w/i
/** A person who says that something was misunderstood or done wrongly. */
const CORRECTION =
  /^(?:no\b[,.! ]|nope\b|wait\b|actually\b|stop\b|wrong\b|undo\b|revert\b|hmm+,? (?:no|but|that)|not (?:that|what|the)\b|i (?:said|meant|asked)\b|that'?s (?:not|wrong)\b)|\b(?:i (?:meant|didn'?t (?:ask|mean|want|say))|that(?:'s| is| was) (?:not (?:what|right|correct|true)|wrong|incorrect)|you (?:forgot|missed|broke|misunderstood|shouldn'?t have|should not have|were supposed|did ?n[o']t|removed|deleted)|not what i|that'?s not what)\b/i
const DECIDED =
  /\b(?:(?:i|we)(?:'ve| have)? (?:decided|chose|opted|settled|agreed)|decided to|decision(?: is|:)|going with|(?:i|we)(?:'ll| will) (?:use|keep|go with|stick (?:with|to)|switch to|treat)|let'?s (?:use|go (?:with|for)|keep|stick)|(?:best|right|simplest|cleanest) (?:approach|solution|fix|way|option) is|switch(?:ed|ing) (?:to|from))\b/i
/** A preference over something else, in a sentence that changes something rather than explains it. */
const PREFERRED =
  /^(?:the (?:fix|plan|change|idea)\b|instead of|use|using|changed?|replaced?|compare|keep|move|switch|make|add|treat|update[ds]?|all\b.{0,20}\bnow|`[^`]{1,80}`(?:\(\))?:)|\b(?:now (?:uses?|calls?|takes?|returns?|reads?|writes?|stores?|keeps?)|(?:we|i)(?:'ll| will)?) \b/i
const TO_ANOTHER = /\b(?:instead of|rather than)\b/i
/** A step that only looks decides nothing. */
const LOOKING = /\bto (?:see|check|find|look|verify|understand)\b/i

/** Choices of a person among what an agent offered. */
const CHOSEN =
  /\b(?:let'?s (?:use|go (?:with|for)|keep|stick|do|skip)|go with|option \w\b|i(?:'d| would) (?:go with|choose|pick|rather)|use .{2,60} instead)\b/i
/** Words with a capital within a sentence. Identifiers are another kind. */
const NAME = /(?<=[\p{Ll}\p{N}] )\p{Lu}\p{Ll}{2,20}(?: \p{Lu}\p{Ll}{1,20}){0,2}(?![\p{L}\p{N}_./-])/gu
const NAMES_A_SENTENCE_MAX = 10

const WORDS_MIN = 4

/** Whether words that a person sent instead of allowing a call say what is wrong, and do not only ask. */
export function isCorrection(words: string): boolean {
  return !/[?][^\p{L}\p{N}]{0,8}$/u.test(words) || CORRECTION.test(words)
}

/** Adds statements of a person or an agent: constraints, corrections and decisions, sentence by sentence, and names in people's words. */
export function addStatements(atoms: AtomSet, source: SummarySource): void {
  if (source.role === 'user') addPersons(atoms, source)
  else if (source.role === 'assistant' || source.role === 'tool_use') addAgents(atoms, source)
}

function addPersons(atoms: AtomSet, { text, reference }: SummarySource): void {
  if (text.trim() === '') return
  for (const taking of takingsBack(text)) endConstraints(atoms, taking, reference)
  const lasting = new Set(lastingInstructions(text).map(plainWords))
  // The body of a plan is an agent's text, which was approved as one request.
  const isPlan = readRequest(text).plan !== null
  for (const sentence of sentencesOf(withoutCopied(text))) {
    const key = plainWords(sentence)
    const words = key.trim().split(' ').length
    const isLasting = [...lasting].some((one) => one.includes(key) || key.includes(one))
    const isQuestion = /\?["')]?$/.test(sentence)
    if (isLasting) atoms.add('constraint', key, sentence, reference)
    else if (isPlan || words < 2) continue
    else if (CORRECTION.test(sentence) && words > 2) atoms.add('correction', key, sentence, reference)
    else if (!isQuestion && words >= WORDS_MIN && (CONSTRAINT.test(sentence) || FORBIDDING.test(sentence)))
      atoms.add('constraint', key, sentence, reference)
    else if (!isQuestion && CHOSEN.test(sentence)) atoms.add('decision', key, sentence, reference)
    for (const [name] of [...sentence.matchAll(NAME)].slice(0, NAMES_A_SENTENCE_MAX)) {
      atoms.add('name', plainWords(name), name, reference)
    }
  }
}

/** A constraint that is taken back holds no longer; the sentence that says so is a correction of it. */
function endConstraints(atoms: AtomSet, taking: TakingBack, reference: string): void {
  const constraints = atoms.of('constraint')
  const ended = endedBy(
    taking,
    constraints.map(({ text }) => instructionWords(text)),
  )
  for (const at of ended) atoms.remove('constraint', constraints[at]?.key ?? '')
  if (ended.length > 0) atoms.add('correction', plainWords(taking.sentence), taking.sentence, reference)
}

function addAgents(atoms: AtomSet, { text, reference }: SummarySource): void {
  for (const sentence of sentencesOf(text)) {
    const isChoice = DECIDED.test(sentence) || (TO_ANOTHER.test(sentence) && PREFERRED.test(sentence))
    if (!isChoice || LOOKING.test(sentence) || /[?:]$/.test(sentence)) continue
    const cues = cuesOf(sentence)
    const key = plainWords(sentence)
    if (cues.filler || cues.nod || key.trim().split(' ').length < WORDS_MIN + 1) continue
    atoms.add('decision', key, sentence, reference)
  }
}
