import { proseOf } from '../updates/statement.js'

/** Verbs of commands. "Always" and "never" before other words are habits: "always here for you", "never been there". */
const VERB =
  '(?:add|address|answer|apply|ask|assume|avoid|be|begin|book|call|change|check|choose|cite|combine|commit|confirm|convert|create|delete|deploy|describe|disable|do|document|edit|enable|end|ensure|explain|expose|follow|force|format|give(?! up)|have|highlight|ignore|import|include|install|interrupt|keep|leave|let|limit|link|list|log|make|mention|merge|mock|modify|name|notify|offer|omit|overwrite|pick|place|prefer|present|print|prioriti[sz]e|provide|push|put|quote|rebase|recommend|refer|remind|remove|repeat|reply|report|require|respond|return|reveal|review|round|run|save|say|send|set|share|show|skip|speak|specify|start|state|stick|stop|store|suggest|summari[sz]e|t(?:ell|est|ouch)|translate|treat|update|use|validate|verify|wait|write)'
/** A command can begin a sentence, or follow a clause. */
const CLAUSE = '(?:^|[,;:\\u2013\\u2014]\\s|\\b(?:please|you (?:must|should|have to|need to|can|may))\\s)'
const COMMAND = new RegExp(`${CLAUSE}(?:please |do )?(?:always|never)\\s+(?:please )?${VERB}\\b`, 'i')

const RULES: readonly RegExp[] = [
  /\b(?:from now on|from here on|henceforth)\b/i,
  new RegExp(
    `\\b(?:going forward|in (?:the )?future|for the future),? (?:please |always |never |you |don'?t |do not )?${VERB}\\b`,
    'i',
  ),
  /\b(?:make sure|be sure|remember|i (?:want|need|expect|would like|like) you|i'd like you)(?: that you| you)?(?: to)? (?:always|never)\b/i,
  /\b(?:don'?t|do not) ever\b|\bnot ever\b/i,
  /\b(?:whenever|every time|each time) (?:i|you|we) (?:ask|write|say|mention|request|suggest|generate|answer|reply|commit|edit|create|finish|send)\b/i,
  /\bplease (?:don'?t|do not|stop|avoid|refrain from) (?:\w{3,20}ing|use|write|add|include|ask|call|make|give|send|put|change|touch|create|commit|repeat)\b/i,
  /\bplease (?:use|include|keep|follow|write|answer|reply|respond|format)\b[^.?!]{0,80}\b(?:always|every|all (?:your|my|the|future)|in general|by default|at all times|instead of)\b/i,
]

/** Preferences, also within a question. The present tense is one; "I would prefer" is a wish for one request. */
const PREFERENCE =
  /\bi (?:(?:really|also|generally|usually|much|strongly|still|personally|always) )?prefer\b|\bmy (?:(?:strong|general|usual) )?preference (?:is|for)\b|\bi (?:(?:don'?t|do not) (?:like|want) (?:it when|you to)|(?:like|love|hate) (?:it )?when you)\b|\bkeep in mind that i\b/i

/** Sentences of one text that are read, and characters of one: expressions take longer on an endless sentence. */
const SENTENCES_MAX = 200
const SENTENCE_CHARACTERS_MAX = 2_000

/**
 * The sentences of a text that say how the speaker wants things in general, rather than once: commands with "always" and
 * "never", "from now on", and preferences. By rules of one language, which look for what such sentences have in common.
 */
export function lastingInstructions(text: string): string[] {
  return proseOf(text)
    .split(/(?<=[.!?])\s+|\n+/, SENTENCES_MAX)
    .map((sentence) => sentence.trim().slice(0, SENTENCE_CHARACTERS_MAX))
    .filter(isInstruction)
}

function isInstruction(sentence: string): boolean {
  if (PREFERENCE.test(sentence)) return true
  return !sentence.endsWith('?') && (COMMAND.test(sentence) || RULES.some((rule) => rule.test(sentence)))
}
