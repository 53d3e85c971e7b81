import type { FactKind } from '@heddle/contracts'
import type { FactDraft } from './fact.js'

/*
 * Sentences in which people speak of themselves: who they are, what they like, what they decided, and what they have and have not
 * done. Hints of one language; each finds a form that such sentences have in common.
 */

interface Saying {
  readonly kind: FactKind
  readonly predicate: string
  readonly isSingle: boolean
  readonly isNegated?: boolean
  /** Its first group is the object. */
  readonly expression: RegExp
}

const ME = '(?:i|we)'
const ADVERBS =
  '(?:(?:really|always|also|generally|usually|much|strongly|still|personally|already|just|recently|actually|successfully|finally|currently|now|mostly) ){0,2}'
/** To the end of the clause. */
const REST = '([^,;:.!?()]{2,120})'
const PAST =
  '(?:[a-z]{2,20}ed|built|written|wrote|made|done|did|had|got|gotten|run|ran|set|met|gone|went|taken|took|begun|began|seen|found|read|put|chosen|taught|learnt|kept|held|sent)'

const rule = (words: string) => new RegExp(words, 'i')

const SAYINGS: readonly Saying[] = [
  {
    kind: 'profile',
    predicate: 'name',
    isSingle: true,
    expression: /\b[Mm]y name(?: is|'s) (\p{Lu}[\p{L}'’-]{1,30}(?: \p{Lu}[\p{L}'’-]{1,30}){0,2})/u,
  },
  {
    kind: 'profile',
    predicate: 'name',
    isSingle: true,
    expression: /\bI(?:'|’| a)m (\p{Lu}\p{Ll}{1,20}(?: \p{Lu}\p{Ll}{1,20})?)(?=[,.!]|$)/u,
  },
  {
    kind: 'profile',
    predicate: 'lives in',
    isSingle: true,
    expression: rule(`\\b${ME} ${ADVERBS}(?:live in|(?:have )?moved to|(?:'ve|’ve) moved to) ${REST}`),
  },
  {
    kind: 'profile',
    predicate: 'works at',
    isSingle: true,
    expression: rule(`\\b${ME} ${ADVERBS}work (?:at|for) ${REST}`),
  },
  {
    kind: 'profile',
    predicate: 'works as',
    isSingle: true,
    expression: rule(`\\b${ME} ${ADVERBS}work as (?:an? )?${REST}`),
  },
  { kind: 'profile', predicate: 'age', isSingle: true, expression: /\bI(?:'|’| a)m (\d{1,3}) years old/i },
  {
    kind: 'preference',
    predicate: 'prefers',
    isSingle: false,
    expression: rule(`\\b${ME}(?:'d|’d| would)? ${ADVERBS}prefer(?:red)? ${REST}`),
  },
  {
    kind: 'preference',
    predicate: 'likes',
    isSingle: false,
    expression: rule(`\\b${ME} ${ADVERBS}(?:like|love|enjoy) ${REST}`),
  },
  {
    kind: 'preference',
    predicate: 'likes',
    isSingle: false,
    isNegated: true,
    expression: rule(
      `\\b${ME} ${ADVERBS}(?:(?:don['’]?t|do not) (?:really )?(?:like|love|enjoy)|hate|dislike) ${REST}`,
    ),
  },
  {
    kind: 'decision',
    predicate: 'decided',
    isSingle: false,
    expression: rule(
      `\\b${ME}(?:'ve|’ve| have)? ${ADVERBS}(?:decided (?:on |to |that )?|chose(?:n)? |opted for |settled on |went with |switched to |agreed (?:on |to ))${REST}`,
    ),
  },
  {
    kind: 'experience',
    predicate: 'does',
    isSingle: false,
    isNegated: true,
    expression: rule(
      `\\b${ME}(?:'ve|’ve| have|'m|’m| am|'d|’d| had)? ${ADVERBS}(?:never|not yet|not ever) ${ADVERBS}${REST}`,
    ),
  },
  {
    kind: 'experience',
    predicate: 'does',
    isSingle: false,
    isNegated: true,
    expression: rule(
      `\\b${ME} (?:haven['’]?t|have not|didn['’]?t|did not|don['’]?t|do not) ${ADVERBS}(?:yet )?(?!know|think|want|like|love|enjoy|understand|see why|mean)${REST}`,
    ),
  },
  {
    kind: 'experience',
    predicate: 'does',
    isSingle: false,
    expression: rule(
      `\\b${ME}(?:'ve|’ve| have) ${ADVERBS}(?!not |never |to |decided|chosen|opted|settled)(${PAST} [^,;:.!?()]{2,120})`,
    ),
  },
  {
    kind: 'experience',
    predicate: 'does',
    isSingle: false,
    expression: rule(
      `\\b${ME} ${ADVERBS}(?!decided|preferred|liked|loved|needed|wanted|wondered|chose)(${PAST} [^,;:.!?()]{2,120})`,
    ),
  },
  {
    kind: 'experience',
    predicate: 'does',
    isSingle: false,
    expression: rule(
      `\\b${ME}(?:'m|’m| am| are) ${ADVERBS}(?:trying to )?(?!trying|going|not |never|wondering|having|looking|thinking|hoping)((?:[a-z]{2,20}ing|implement|build|create|use|set up|integrate|design|write|add) [^,;:.!?()]{2,120})`,
    ),
  },
  {
    kind: 'experience',
    predicate: 'does',
    isSingle: false,
    expression: rule(`\\b${ME}(?:'m|’m| am| are) trying to ${REST}`),
  },
]

/** Words on a person's own things, such as "my favourite editor is Vim". */
const OWN =
  /\bmy ((?:favou?rite|preferred|current|main|primary|default|new) [\p{L}-]{2,30}(?: [\p{L}-]{2,30})?|email(?: address)?|birthday|hometown|manager|employer|job|time ?zone) is (?:now )?([^,;:!?()]{2,80}?)(?=[,;:!?()]|\.(?:\s|$)|$)/iu

export function sayingFacts(sentence: string): FactDraft[] {
  const facts = SAYINGS.flatMap(({ expression, kind, predicate, isSingle, isNegated = false }): FactDraft[] => {
    const object = expression.exec(sentence)?.[1]?.trim()
    if (object === undefined || object === '') return []
    return [
      {
        subject: 'user',
        predicate,
        object,
        kind,
        isNegated,
        isSingle,
        statement: sentence,
        confidence: isSingle ? 0.9 : 0.6,
      },
    ]
  })
  const [, thing, object] = OWN.exec(sentence) ?? []
  if (thing === undefined || object === undefined) return facts
  const fact = {
    subject: 'user',
    predicate: thing.toLowerCase(),
    object: object.trim(),
    kind: 'profile',
    isSingle: true,
  } as const
  return [...facts, { ...fact, isNegated: false, statement: sentence, confidence: 0.8 }]
}
