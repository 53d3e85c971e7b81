import ts from 'typescript'
import type { Checkout, Script } from './checkout.js'
import { commentsOf } from './comments.js'

export const textKinds = ['comment', 'docstring', 'log', 'error', 'help', 'output', 'title', 'page'] as const
/** `output` is a text for people without a more exact kind; `page` is prose of Markdown. */
export type TextKind = (typeof textKinds)[number]

export interface Text {
  readonly path: string
  readonly line: number
  readonly kind: TextKind
  readonly text: string
}

/** Texts that are data: recorded sessions, prompts, and settings of other programs. */
const DATA = /(^|\/)(demo|prompts?|migrations|fixtures|samples|content-shapes)(\/|[\w-]*\.ts$)|prompts?\.ts$/
/** Decisions and change logs describe the state of their day. */
const PAGES_LEFT_OUT = /^docs\/decisions\/2|CHANGELOG\.md$|^\.changeset\//

/** All texts that people read: comments, messages, help, titles of tests, and pages. */
export function textsOf(checkout: Checkout): readonly Text[] {
  const pages = checkout.paths.filter((path) => path.endsWith('.md') && !PAGES_LEFT_OUT.test(path))
  return [...checkout.scripts.flatMap(scriptTexts), ...pages.flatMap((path) => pageTexts(path, checkout.read(path)))]
}

export function scriptTexts(script: Script): readonly Text[] {
  const { path, syntax } = script
  const place = (position: number) => ({ path, line: syntax.getLineAndCharacterOfPosition(position).line + 1 })
  const texts: Text[] = commentsOf(script).map(({ position, isDocstring, text }) => ({
    ...place(position),
    kind: isDocstring ? 'docstring' : 'comment',
    text,
  }))
  const visit = (node: ts.Node, kind: TextKind | null): void => {
    const text = textOf(node)
    if (text !== null) {
      if (kind !== null && isProse(text, kind))
        texts.push({ ...place(node.getStart(syntax)), kind, text: oneLine(text) })
      // The computed parts of a template can hold texts of their own.
      if (ts.isTemplateExpression(node)) for (const span of node.templateSpans) visit(span.expression, kind)
      return
    }
    for (const { child, kind: childKind } of childrenOf(node, kind)) visit(child, childKind)
  }
  const isSource = !script.isTest && !DATA.test(path)
  visit(syntax, isSource ? 'output' : null)
  return texts
}

/** The prose of a page, paragraph by paragraph, without blocks of code. */
export function pageTexts(path: string, page: string): readonly Text[] {
  const prose = page.replace(/^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1\s*$/gm, (block) => block.replace(/[^\n]/g, ''))
  return [...prose.matchAll(/[^\n]+(\n[^\n]+)*/g)].map((match) => ({
    path,
    line: prose.slice(0, match.index).split('\n').length,
    kind: 'page',
    text: oneLine(match[0]),
  }))
}

interface Child {
  readonly child: ts.Node
  readonly kind: TextKind | null
}

/** The children of a node, and the kind of the texts there. */
function childrenOf(node: ts.Node, kind: TextKind | null): readonly Child[] {
  const children: ts.Node[] = []
  node.forEachChild((child) => void children.push(child))
  const all = (of: TextKind | null) => children.map((child) => ({ child, kind: of }))
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node)) return []
  if (ts.isTaggedTemplateExpression(node)) return []
  if (ts.isNewExpression(node) && /(Error|Invalid|Json)$/.test(node.expression.getText())) return all('error')
  if (ts.isCallExpression(node)) return callChildren(node, kind)
  if (ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node)) return all(kindOfName(node.name.getText(), kind))
  if (kind !== null && ts.isBlock(node) && kind !== 'output') return all(kind === 'title' ? null : 'output')
  return all(kind)
}

function callChildren(node: ts.CallExpression, kind: TextKind | null): readonly Child[] {
  const called = node.expression.getText().replace(/\s+/g, '')
  const [first, ...rest] = node.arguments.map((child) => child)
  const head: Child = { child: node.expression, kind }
  if (first === undefined) return [head]
  if (/^(test|it|describe)(\.\w+)*(\(|$)/.test(called) && textOf(first) !== null) {
    return [{ child: first, kind: 'title' }, ...rest.map((child) => ({ child, kind }))]
  }
  const of = kindOfCall(called, kind)
  return [head, ...node.arguments.map((child) => ({ child, kind: of }))]
}

function kindOfCall(called: string, kind: TextKind | null): TextKind | null {
  if (/\b(log|logger)\??\.(trace|debug|info|warn|error|fatal)$/i.test(called)) return 'log'
  if (kind === null) return null
  if (/\.(describe|description|summary|option|requiredOption|argument|addHelpText|helpOption|usage)$/.test(called))
    return 'help'
  if (/^(RegExp|Symbol)$/.test(called)) return null
  if (/(fault|invalid|notFound|refuse|unavailable|unauthorized|tooLarge|refine|optionValue|[eE]rror)\w*$/.test(called))
    return 'error'
  return kind
}

function kindOfName(name: string, kind: TextKind | null): TextKind | null {
  if (/^(help|usage)$/i.test(name)) return 'help'
  if (kind === null) return null
  if (/^(summary|description)$/i.test(name)) return 'help'
  if (/^(hint|rule|error|message|problem|advice)$/i.test(name)) return 'error'
  return kind
}

/** A text as people see it, with `…` for computed parts; null for other nodes. */
function textOf(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return null
  const [left, right] = [textOf(node.left), textOf(node.right)]
  return left === null && right === null ? null : (left ?? '…') + (right ?? '…')
}

/** Names, patterns and SQL statements are not prose; a text of two words is, if its place defines its kind. */
function isProse(text: string, kind: TextKind): boolean {
  if (
    /^\s*(select|insert|update|delete|create|drop|alter|with|grant|revoke|set|begin|and|where|limit|copy)\s/.test(
      text.toLowerCase(),
    ) &&
    /[=();]|\b(from|into|table|on|role|index)\b/i.test(text) &&
    kind === 'output'
  )
    return false
  const words = text.match(/(?<![\w./:-])[A-Za-z][a-z']*(?![\w/:-])/g) ?? []
  return words.length >= (kind === 'output' ? 3 : 2)
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
