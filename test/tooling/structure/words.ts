import type { Text } from './texts.js'

interface WordRule {
  /** Its key among the ceilings. */
  readonly name: string
  /** The words to use instead. */
  readonly say: string
  readonly pattern: RegExp
  /** Paths in which the word can have the wrong meaning; everywhere if absent. */
  readonly paths?: RegExp
}

/**
 * Words that are reserved for one meaning, and phrases that are hard to read. Code marks (`room`), names in quotes and paths are
 * removed before a rule sees a text, so identifiers are never counted.
 */
export const wordRules: readonly WordRule[] = [
  {
    name: 'tell',
    say: 'publish, report, inform; for differences: distinguish',
    pattern: /\b(?:un|fore)?(?:tell|tells|telling|told)\b/gi,
  },
  { name: 'who-asks', say: 'the caller, the requester', pattern: /\bwho(?:ever)? (?:asks?|asked)\b|\basked of\b/gi },
  {
    name: 'letter',
    say: 'message, report or dead letter',
    pattern: /(?<!\bdead[ -])\bletters?\b/gi,
    // Elsewhere letters are those of the alphabet.
    paths: /^packages\/(queue|host)\/|dead|letter|jobs/,
  },
  {
    name: 'word',
    say: 'message, report, signal',
    pattern:
      /\bwithout a word\b|\b(?:gives?|gave|sends?|sent|gets?|got|hears?|heard|no|a) word (?:of|yet|from|to|comes?|came)\b|['’]s word\b|\bword comes?\b/gi,
  },
  { name: 'room', say: 'capacity, space, back-pressure', pattern: /\brooms?\b/gi },
  {
    name: 'turn',
    say: 'batch, lease, mutex, yield; a turn is one of a conversation',
    pattern:
      /\b(?:in|by) turns\b|\bin (?:its|their) turn\b|\b(?:have|has|had|having|get|gets|got|give|gives|gave) (?:\w+ ){0,4}turns?\b|\btakes? (?:a |its |their |the )?turns?\b|\bturn (?:comes?|came|has come)\b|\bask(?:s|ed)? for (?:a|its|the|their) turn\b|\bwait(?:s|ed|ing)? (?:for )?(?:its|their|a|the) turn\b|\bout of turn\b/gi,
  },
  { name: 'keep-house', say: 'run housekeeping', pattern: /\b(?:keeps?|kept|keeping) house\b/gi },
  {
    name: 'none',
    say: 'no, not, null, absent, or the noun that is missing',
    pattern:
      /\b(?:is|are|was|were|be|has|have|had|having|gives?|gave|given|holds?|held|names?|named|finds?|found|needs?|wants?|makes?|made|knows?|takes?|took|takes?|leaves?|left|sets?|says?|said|expects?|gets?|got|brings?|as if there were) none\b(?! of (?:the|them|these|those|its)\b)|\bnone (?:is|are|was|were|has|had|where|that|who|waits?|comes?|came|needs?|exists?|of (?:its|their|his|our) own)\b/gi,
  },
  {
    name: 'clause-subject',
    say: 'a noun as the subject: "A caller that waits …", "A missing value …"',
    pattern:
      /(?<=^|[.:;!?)] )(?:(?:Who|Whoever|Whatever) |What (?:is|was|are|were|has|had|can|cannot|may|came|comes|goes|failed) [^.?!]*\b(?:is|are|was|were|has|have|can|cannot|may|must|would|needs?|takes?|goes|stays?|counts?)\b)[^.?!]*(?:[.!]|$)/g,
  },
  {
    name: 'what-opening',
    say: 'a noun: "The fields of …", "The parameters of …"',
    pattern: /(?<=^|[.:;!?)] )What (?=[a-z])[^.?!]*(?:[.!]|$)/g,
  },
  { name: 'give-back', say: 'release, return', pattern: /\b(?:give|gives|gave|given|giving) (?:\w+ ){0,2}back\b/gi },
  {
    name: 'take-up',
    say: 'acquire, process',
    pattern: /\b(?:take|takes|took|taken|taking) (?:(?:it|them|jobs?|\w+ jobs?) )?up\b(?! to\b)/gi,
  },
  {
    name: 'stand',
    say: 'be, be written, be stored',
    pattern: /\b(?:stands?|stood|standing)\b(?![- ](?:for|in for|alone|by|still|out|ins?)\b)/gi,
  },
  {
    name: 'look',
    say: 'poll, query, check',
    pattern:
      /\b(?:the|a|last|next|each|every|one|this|first|second) look\b(?! like|-)|\blooks? (?:once|again|whether)\b|\b(?:looks?|looked|looking) after\b/gi,
  },
  { name: 'weave', say: 'merge', pattern: /\b(?:weave|weaves|weaving|wove|woven)\b/gi },
]

/** Names of the code: marked, quoted, or written like one. */
const NAMES = /`[^`]*`|"[^"]*"|\{@link [^}]*\}|\bhttps?:\S+|\S*[/_=]\S*|\b[a-z]+[A-Z]\w*|--[\w-]+/g

/** Characters shown on each side of a word that was found. */
const CONTEXT = 40

export interface ReservedUse {
  readonly rule: WordRule
  readonly found: string
}

export function reservedIn({ text, path }: Pick<Text, 'text' | 'path'>): readonly ReservedUse[] {
  const prose = text.replace(NAMES, (name) => '·'.repeat(name.length))
  return wordRules
    .filter(({ paths }) => paths?.test(path) ?? true)
    .flatMap((rule) =>
      [...prose.matchAll(rule.pattern)].map((match) => ({
        rule,
        found: text.slice(Math.max(0, match.index - CONTEXT), match.index + match[0].length + CONTEXT),
      })),
    )
}
