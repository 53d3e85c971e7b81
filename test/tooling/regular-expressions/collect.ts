import ts from 'typescript'

/** A regular expression of the sources. */
export interface Expression {
  readonly file: string
  readonly line: number
  readonly source: string
  readonly flags: string
}

export interface Collected {
  readonly expressions: readonly Expression[]
  /** An expression that is composed at run time, so that it cannot be read here: its source text. */
  readonly unread: readonly { readonly file: string; readonly line: number; readonly written: string }[]
}

/** The regular expressions in a file: literals, and those composed of constants of the same file. */
export function collectExpressions(file: string, text: string): Collected {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const constants = new Map<string, ts.Expression>()
  const expressions: Expression[] = []
  const unread: { file: string; line: number; written: string }[] = []
  const lineOf = (node: ts.Node) => source.getLineAndCharacterOfPosition(node.getStart()).line + 1
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer) {
      constants.set(node.name.text, node.initializer)
    }
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      expressions.push({
        file,
        line: lineOf(node),
        source: node.text.slice(1, end),
        flags: node.text.slice(end + 1),
      })
    } else if (ts.isNewExpression(node) && node.expression.getText() === 'RegExp') {
      const [pattern, flags] = node.arguments ?? []
      const read = pattern === undefined ? null : textOf(pattern, constants)
      if (read === null) unread.push({ file, line: lineOf(node), written: node.getText().replace(/\s+/g, ' ') })
      else
        expressions.push({ file, line: lineOf(node), source: read, flags: (flags && textOf(flags, constants)) ?? '' })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return { expressions, unread }
}

/** The text of an expression, as far as constants determine it; null if it is only known at run time. */
function textOf(node: ts.Expression, constants: ReadonlyMap<string, ts.Expression>): string | null {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return textOf(node.expression, constants)
  if (ts.isIdentifier(node)) {
    const value = constants.get(node.text)
    return value === undefined ? null : textOf(value, constants)
  }
  if (ts.isTemplateExpression(node)) {
    const spans = node.templateSpans.map(({ expression, literal }) => {
      const value = textOf(expression, constants)
      return value === null ? null : value + literal.text
    })
    return joined([node.head.text, ...spans], '')
  }
  if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'String.raw') {
    return ts.isNoSubstitutionTemplateLiteral(node.template) ? (node.template.rawText ?? null) : null
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    return joined([textOf(node.left, constants), textOf(node.right, constants)], '')
  }
  return ts.isCallExpression(node) ? listOf(node, constants) : null
}

/** `['a', 'b'].join('|')` */
function listOf(
  { expression, arguments: [separator] }: ts.CallExpression,
  constants: ReadonlyMap<string, ts.Expression>,
) {
  if (!ts.isPropertyAccessExpression(expression) || expression.name.text !== 'join') return null
  const named = expression.expression
  const list = ts.isIdentifier(named) ? constants.get(named.text) : named
  const between = separator === undefined ? ',' : textOf(separator, constants)
  if (list === undefined || !ts.isArrayLiteralExpression(list) || between === null) return null
  return joined(
    list.elements.map((element) => textOf(element, constants)),
    between,
  )
}

function joined(texts: readonly (string | null)[], between: string): string | null {
  return texts.includes(null) ? null : texts.join(between)
}
