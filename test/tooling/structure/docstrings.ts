import type ts from 'typescript'
import type { Script } from './checkout.js'
import { commentsOf } from './comments.js'

/**
 * A docstring paraphrases its name when it has one sentence without tags and, of its words that carry meaning, at most one
 * in three is found neither in the name that it documents nor in the names and types of its signature. Words are compared
 * without the endings of plurals and verbs.
 */
export const PARAPHRASE_RULE = 'one sentence, at most a third of whose meaningful words are absent from the signature'

const EMPTY_WORDS = new Set(
  `a an the of in on at to for from by with as and or its it his their this that these those all each every any one is are was were be
  been has have had may can which who whose what where when how than then there`.split(/\s+/),
)
const ENDINGS = /(?:ations?|ing|ed|es|s|e)$/

export interface Docstring {
  readonly path: string
  readonly line: number
  readonly text: string
  readonly isParaphrase: boolean
}

export function docstringsOf(script: Script): readonly Docstring[] {
  const { syntax, path } = script
  return commentsOf(script)
    .filter(({ isDocstring }) => isDocstring)
    .map(({ position, end, text }) => ({
      path,
      line: syntax.getLineAndCharacterOfPosition(position).line + 1,
      text,
      isParaphrase: paraphrases(text, signatureAfter(script, end)),
    }))
}

export function paraphrases(text: string, signature: string): boolean {
  const sentence = text.replace(/[.:]$/, '')
  if (/[.;:@]|\d/.test(sentence)) return false
  const said = stemsOf(sentence)
  if (said.length === 0) return false
  const known = stemsOf(signature)
  const added = said.filter((stem) => !known.includes(stem))
  return added.length * 3 <= said.length
}

/** From the end of a comment to the body of what it documents: the name, the parameters and the types. */
function signatureAfter({ text, syntax }: Script, end: number): string {
  const find = (node: ts.Node): ts.Node | undefined => {
    if (node.getFullStart() > end || node.end <= end) return undefined
    return node.getStart(syntax) >= end ? node : node.forEachChild(find)
  }
  const documented = text.slice(end, syntax.forEachChild(find)?.end ?? end)
  const [declaration = ''] = documented.split(/\{\s*\n|=>|\n\s*\n|;/)
  return declaration
}

function stemsOf(text: string): readonly string[] {
  const words = text.replace(/([a-z])([A-Z])/g, '$1 $2').match(/[A-Za-z]+/g) ?? []
  return words
    .map((word) => word.toLowerCase())
    .filter((word) => !EMPTY_WORDS.has(word))
    .map((word) => (word.length > 4 ? word.replace(ENDINGS, '') : word))
}
