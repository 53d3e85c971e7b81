import { proseOf } from '../updates/statement.js'
import { isEqual, isSubset, topicWords } from './topic-words.js'

/** A sentence of a person that ends an instruction. */
export interface TakingBack {
  readonly sentence: string
  /** The instructions that it can end: any, those to do something, or those not to do it. */
  readonly ends: 'any' | 'orders' | 'prohibitions'
  /** Whether it names an instruction by a part of its words, and not by all of them. */
  readonly isPartial: boolean
  /** Whether it asks for the opposite from then on, as "don't use tabs from now on" does. */
  readonly isProhibition: boolean
  readonly words: ReadonlySet<string>
}

const RULE = '(?:instruction|rule|request|preference|constraint|requirement|demand|wish)s?'
const SAID = `(?:what i (?:said|t(?:old|aught) you|asked(?: you| for)?|wrote)|(?:my|the|that) (?:\\w{3,10} )?${RULE})`
const ABOUT = '(?:about|on|regarding|concerning|to|that|for|of)'
/** Politeness and joints before the words that matter. */
const OPENING = '^(?:(?:ok(?:ay)?|alright|all right|so|and|but|also|please|actually|well|yes|now),? ){0,3}'
const FORGET = new RegExp(
  `${OPENING}(?:forget|ignore|disregard|drop|scrap|never ?mind)(?: about)? ${SAID}(?: earlier| before)? ${ABOUT} (.{2,200})$`,
  'i',
)
const LIFTED = new RegExp(
  `^(?:the|that|my) (?:\\w{3,10} )?${RULE} ${ABOUT} (.{2,200}?) (?:no longer (?:applies|apply|holds?|counts?)|(?:is|are) (?:lifted|void|off)|(?:does not|doesn't|do not|don't) (?:apply|hold|count) any ?(?:more|longer))$`,
  'i',
)
const NEEDLESS =
  /^(.{2,120}?) (?:is|are) (?:no longer|not) (?:needed|necessary|required|wanted)((?: any ?(?:more|longer))?)$/i
const PERMITTED = new RegExp(
  `${OPENING}(?:you (?:may|can|are (?:now )?allowed to)|you're (?:now )?allowed to|feel free to|it(?:'s| is) (?:ok(?:ay)?|fine|all right|alright)(?: for you)? to|go ahead and) (.{2,200})$`,
  'i',
)
const RELEASED = new RegExp(
  `${OPENING}(?:you (?:don't|do not|no longer) (?:have|need) to|you needn't|(?:there(?:'s| is) )?no (?:more )?(?:longer any )?need to|stop|don't|do not) (.{2,200})$`,
  'i',
)
/** Those of {@link RELEASED} that forbid what they release from. */
const FORBIDDEN = new RegExp(`${OPENING}(?:stop|don't|do not) (?!(?:have|need|bother|worry)\\b)`, 'i')

/** "Again" and "from now on": a permission without them may be for once. */
const FOR_GOOD = /\b(?:again|from now on|going forward|in (?:the )?future|any ?time|whenever you (?:like|want|wish))\b/i
/** A permission with one of these forbids. */
const NEGATED = /\b(?:not|never|no longer|no more|nowhere)\b/i
const NO_MORE = /\b(?:any ?more|any longer|no longer|from now on|going forward)\b/i
/** Exceptions and conditions, under which the instruction holds otherwise. */
export const LIMITED =
  /\b(?:once|only|just|this time|for (?:this|that|now|today|the moment|tonight)|in this case|today|tonight|tomorrow|until|till|if|when|while|unless|after|before|as long as|provided|except|but not|temporarily|instead of)\b/i

const SENTENCES_MAX = 200
const SENTENCE_CHARACTERS_MAX = 300

/** Marks of a text that passes on the words of others, or is to be edited: lines that announce them, tags, quotes, indented code. */
const PASSED_ON =
  /:[ \t]*$|<\/?[a-z]|["“”„«»]|^(?: {4}|\t)|\b(?:wrote|writes|says|translat\w{1,4}|summari[sz]\w{1,4}|rewrite|rephrase|paraphrase|proofread|draft|letter|e-?mail)\b|\b(?:he|she|they|it) said\b|\bwrite (?:a|an|the|this) (?:message|mail|note|post|comment|reply|announcement)\b/im

/**
 * The sentences of a text that end an instruction of before, by rules of one language. A doubtful one is not among them, nor is any
 * of a text that passes on the words of others.
 */
export function takingsBack(text: string): TakingBack[] {
  const prose = proseOf(text)
  if (PASSED_ON.test(prose)) return []
  return prose.split(/(?<=[.!?])\s+|\n+/, SENTENCES_MAX).flatMap((given) => {
    const sentence = given.trim()
    return sentence.length > SENTENCE_CHARACTERS_MAX || sentence.endsWith('?') ? [] : (read(sentence) ?? [])
  })
}

function read(sentence: string): TakingBack | null {
  const words = sentence.replaceAll('’', "'").replace(/[\s.!]{1,10}$/, '')
  const of = (topic: string | undefined, ends: TakingBack['ends'], isPartial: boolean): TakingBack | null => {
    const topics = topicWords(topic ?? '')
    return topics.size === 0
      ? null
      : { sentence, ends, isPartial, isProhibition: ends === 'orders' && FORBIDDEN.test(words), words: topics }
  }
  if (LIMITED.test(words)) return null
  const named = FORGET.exec(words)?.[1] ?? LIFTED.exec(words)?.[1]
  if (named !== undefined) return of(named, 'any', true)
  const [, needless, any] = NEEDLESS.exec(words) ?? []
  if (needless !== undefined && (/\bno longer\b/i.test(words) || any !== '')) return of(needless, 'orders', false)
  const permitted = PERMITTED.exec(words)?.[1]
  if (permitted !== undefined && FOR_GOOD.test(words) && !NEGATED.test(permitted))
    return of(permitted, 'prohibitions', false)
  const released = RELEASED.exec(words)?.[1]
  return released !== undefined && NO_MORE.test(words) ? of(released, 'orders', false) : null
}

/** Instructions not to do something. */
const PROHIBITION =
  /\b(?:never|don['’]?t|do not|not ever|must not|mustn['’]?t|should not|shouldn['’]?t|(?:can|may) (?:not|no longer)|cannot|can['’]t|stop|avoid|refrain)\b/i
/** A reason or another clause behind what is to be done. */
const REST = /(?:[,;:(–—]| - |\bbecause\b|\bsince\b|\bas it\b)/i

/** An instruction with its words, which many later sentences are compared with. */
export interface InstructionWords {
  readonly sentence: string
  readonly isProhibition: boolean
  readonly topics: ReadonlySet<string>
  /** Of what it wants, without its reason. */
  readonly wanted: ReadonlySet<string>
}

export function instructionWords(sentence: string): InstructionWords {
  const clauses = sentence.split(REST).map((clause) => ({ clause, words: topicWords(clause) }))
  const wanted = clauses.find(({ words }) => words.size > 0)
  return {
    sentence,
    // Of its reason it says nothing: "use tabs, spaces can't align".
    isProhibition: PROHIBITION.test(wanted?.clause ?? sentence),
    topics: topicWords(sentence),
    wanted: wanted?.words ?? new Set(),
  }
}

/**
 * The instructions that a sentence ends, as indexes. One that names a part of the words may mean any instruction with them: with
 * several it ends nothing.
 */
export function endedBy(taking: TakingBack, instructions: readonly InstructionWords[]): number[] {
  const ended = instructions.flatMap((instruction, index) => (fits(taking, instruction) ? [index] : []))
  const texts = new Set(ended.map((index) => instructions[index]?.sentence))
  return taking.isPartial && texts.size > 1 ? [] : ended
}

function fits({ ends, isPartial, words }: TakingBack, { isProhibition, topics, wanted }: InstructionWords): boolean {
  if (ends === 'orders' && isProhibition) return false
  if (ends === 'prohibitions' && !isProhibition) return false
  if (isPartial) return isSubset(words, topics)
  if (isEqual(words, wanted)) return true
  // "The changelog is no longer needed" names all but what is done with it, which comes first.
  if (ends !== 'orders' || wanted.size !== words.size + 1) return false
  const [, ...objects] = wanted
  return objects.length > 0 && isEqual(words, new Set(objects))
}
