import type { Message } from '../conversation/message.js'
import type { Pausable } from '../recall/steps.js'
import { withoutCopied } from '../speech/request-words.js'
import { sentencesOf } from '../speech/sentences.js'
import { userSpeechIn } from '../speech/user-speech.js'
import { redactSecrets } from '../summarizing/redact.js'
import type { FactDraft } from './fact.js'
import { sayingFacts } from './sayings.js'
import { valueFacts } from './values.js'

/** Facts of one message: a page of figures is no set of facts. */
export const FACTS_PER_MESSAGE_MAX = 40

/** Sections of contexts, which an agent may have sent back as a user's words: they were recalled, not said. */
const RECALLED =
  /<(memory|memories|facts?|earlier-conversation|heddle-[a-z-]{1,30})(?:\s[^<>]{0,2000})?>[\s\S]*?(?:<\/\1>|$)/gi
/** A line with a reference is of a context, too. */
const REFERRING_LINE = /^.*(?:\[recall:|nexora:\/\/).*$/gm

/** The end of a sentence that asks for something. */
const REQUEST =
  /(?:^|[,;:–—-]?\s)(?:(?:and|but|so|then)\s)?(?:(?:can|could|would|will|should|may|do|does|did) (?:you|i|we|it|this|that|the)|how (?:do|can|should|would|could|to)|what (?:is|are|do|should|would|if)|is (?:it|there|this|that)|are there|any (?:ideas?|tips?|suggestions?|recommendations?))\b[\s\S]*$/i

/**
 * Statements of people about themselves and their work, by rules: values, profile, preferences, decisions, and what they have and have
 * not done. Only what a person typed is read: no text of models and tools, nothing that a program inserted or that was recalled,
 * no copied code or logs, and no sentence with a secret.
 */
export function extractFacts(message: Pick<Message, 'role' | 'content' | 'restores'>): FactDraft[] {
  if (message.role !== 'user' || message.restores !== undefined) return []
  const facts = new Map<string, FactDraft>()
  for (const sentence of saidSentences(message.content)) {
    for (const fact of [...sayingFacts(sentence), ...valueFacts(sentence)]) {
      const key = JSON.stringify([fact.subject, fact.predicate, fact.object, fact.isNegated])
      if (!facts.has(key)) facts.set(key, fact)
      if (facts.size === FACTS_PER_MESSAGE_MAX) return [...facts.values()]
    }
  }
  return [...facts.values()]
}

/** The facts of several messages, with a pause after each. */
export function* extractAll<Read extends Pick<Message, 'role' | 'content' | 'restores'>>(
  messages: readonly Read[],
): Pausable<{ readonly message: Read; readonly facts: readonly FactDraft[] }[]> {
  const found: { message: Read; facts: readonly FactDraft[] }[] = []
  for (const message of messages) {
    const facts = extractFacts(message)
    if (facts.length > 0) found.push({ message, facts })
    yield
  }
  return found
}

function saidSentences(content: string): string[] {
  const typed = userSpeechIn(content.replace(RECALLED, '\n').replace(REFERRING_LINE, ''))
  return sentencesOf(withoutCopied(typed)).flatMap((sentence) => {
    if (redactSecrets(sentence) !== sentence) return []
    const said = sentence.replace(REQUEST, '').trim()
    return said.length < 4 ? [] : [said]
  })
}
