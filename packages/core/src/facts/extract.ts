import { limits } from '@heddle/contracts'
import { extractedFactId } from '../conversation/ids.js'
import type { Message } from '../conversation/message.js'
import type { Pausable } from '../recall/steps.js'
import { withoutCopied } from '../speech/request-words.js'
import { sentencesOf } from '../speech/sentences.js'
import { userSpeechIn } from '../speech/user-speech.js'
import { sliceWhole } from '../tools/lines.js'
import { type ExtractedFact, FACT_RULES, type FactDraft } from './fact.js'
import { sayingFacts } from './sayings.js'
import { holdsSecret } from './secrets.js'
import { valueFacts } from './values.js'

/** Facts of one message: a page of figures is no set of facts. */
export const FACTS_PER_MESSAGE_MAX = 40

/** Sections of contexts, which an agent may have sent back as a user's words: they were recalled, not said. */
const RECALLED =
  /<(memory|memories|memory-[a-z-]{1,30}|facts?|ledger|earlier-conversation|progress-summary|heddle-[a-z-]{1,30})(?:\s[^<>]{0,2000})?>[\s\S]*?(?:<\/\1>|$)/gi
/** A line with a reference is of a context, too. */
const REFERRING_LINE = /^.*(?:\[recall:|nexora:\/\/).*$/gm

/** The end of a sentence that asks for something. */
const REQUEST =
  /(?:^|[,;:–—-]?\s)(?:(?:and|but|so|then)\s)?(?:(?:can|could|would|will|should|may|do|does|did) (?:you|i|we|it|this|that|the)|how (?:do|can|should|would|could|to)|what (?:is|are|do|should|would|if)|is (?:it|there|this|that)|are there|any (?:ideas?|tips?|suggestions?|recommendations?))\b[\s\S]*$/i

/** A summary that an agent made of its conversation is kept aside, and a restored message was read before. */
type SpokenMessage = Pick<Message, 'role' | 'content' | 'restores'> & Partial<Pick<Message, 'keptAside'>>

/**
 * Statements of people about themselves and their work, by rules: values, profile, preferences, decisions, and what they have and have
 * not done. Only what a person typed is read: no text of models and tools, nothing that a program inserted or that was recalled,
 * no copied code or logs, and no sentence with a secret.
 */
export function extractFacts(message: SpokenMessage): FactDraft[] {
  const facts = new Map<string, FactDraft>()
  for (const sentence of saidSentences(message)) {
    for (const draft of [...sayingFacts(sentence), ...valueFacts(sentence)]) {
      const fact = storable(draft)
      if (fact === null) continue
      const key = JSON.stringify([fact.subject, fact.predicate, fact.object, fact.isNegated])
      if (!facts.has(key)) facts.set(key, fact)
      if (facts.size === FACTS_PER_MESSAGE_MAX) return [...facts.values()]
    }
  }
  return [...facts.values()]
}

/**
 * A fact as a database can hold it: a text that is cut in the middle of an emoji, or has a NUL character, has U+FFFD there. A word without
 * end is no subject.
 */
function storable(fact: FactDraft): FactDraft | null {
  const whole = (text: string) => text.toWellFormed().replaceAll('\0', '\uFFFD')
  const [subject, object, statement] = [whole(fact.subject), whole(fact.object), whole(fact.statement)]
  if (subject.length > limits.factNameCharactersMax || object.length > limits.factCharactersMax) return null
  return { ...fact, subject, object, statement: sliceWhole(statement, limits.factCharactersMax) }
}

/** The facts of several messages of a thread as they are stored, with a pause after each message. */
export function* extractAll(
  threadId: string,
  messages: readonly (SpokenMessage & Pick<Message, 'id' | 'orderedAtMs'>)[],
): Pausable<ExtractedFact[]> {
  const found: ExtractedFact[] = []
  for (const message of messages) {
    for (const draft of extractFacts(message)) {
      const id = extractedFactId(threadId, message.id, { ...draft, extractor: FACT_RULES })
      found.push({ ...draft, id, validFromMs: message.orderedAtMs, validToMs: null, sources: [message.id] })
    }
    yield
  }
  return found
}

/** The words that a person typed in a message: nothing that was recalled or inserted, no copied code or logs. */
export function typedText({ role, content, restores, keptAside = null }: SpokenMessage): string {
  if (role !== 'user' || restores !== undefined || keptAside !== null) return ''
  return withoutCopied(userSpeechIn(content.replace(RECALLED, '\n').replace(REFERRING_LINE, '')))
}

function saidSentences(message: SpokenMessage): string[] {
  return sentencesOf(typedText(message)).flatMap((sentence) => {
    if (holdsSecret(sentence)) return []
    const said = sentence.replace(REQUEST, '').trim()
    return said.length < 4 ? [] : [said]
  })
}
