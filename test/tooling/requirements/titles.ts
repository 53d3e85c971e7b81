import ts from 'typescript'

const BLOCKS = new Set(['describe', 'test', 'it'])
/** A block with one of these does not run. */
const OFF = new Set(['skip', 'todo'])

/**
 * The titles of the tests of a file that run, each with those of its `describe` blocks before it: `a queue > is full`. Parts
 * that are filled in at run time are as written: `%s`, `$name` or `${name}`.
 */
export function titlesOf(text: string): readonly string[] {
  const found: string[] = []
  const visit = (node: ts.Node, path: readonly string[]): void => {
    const block = blockOf(node)
    if (block?.isOff) return
    const inside = block === undefined ? path : [...path, block.title]
    if (block !== undefined && block.name !== 'describe') found.push(inside.join(' > '))
    ts.forEachChild(node, (child) => visit(child, inside))
  }
  visit(ts.createSourceFile('a.test.ts', text, ts.ScriptTarget.Latest, true), [])
  return found
}

/** The titles that a name means: it is a title, or the end of one after a `describe`. */
export function titlesNamed(titles: readonly string[], name: string): readonly string[] {
  return titles.filter((title) => title === name || title.endsWith(` > ${name}`))
}

interface Block {
  readonly name: string
  readonly title: string
  readonly isOff: boolean
}

function blockOf(node: ts.Node): Block | undefined {
  if (!ts.isCallExpression(node)) return undefined
  const [title] = node.arguments
  if (title === undefined || !(ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))) return undefined
  const words = calledWords(node.expression)
  const [name = ''] = words
  if (!BLOCKS.has(name)) return undefined
  const written = ts.isStringLiteralLike(title) ? title.text : title.getText().slice(1, -1)
  return { name, title: written, isOff: words.some((word) => OFF.has(word)) }
}

/** `['test', 'each']` of `test.each([1, 2])`. */
function calledWords(called: ts.Expression): readonly string[] {
  if (ts.isIdentifier(called)) return [called.text]
  if (ts.isPropertyAccessExpression(called)) return [...calledWords(called.expression), called.name.text]
  if (ts.isCallExpression(called)) return calledWords(called.expression)
  if (ts.isTaggedTemplateExpression(called)) return calledWords(called.tag)
  return []
}
