import { readFileSync } from 'node:fs'
import ts from 'typescript'

/**
 * The comments of a module on the fields of its schemas, by the path of the field: `prune.keepLastN`. So the page and the source
 * have the same text.
 *
 * @param spreads objects that are spread into the schema, by name, with the module that declares them
 */
export function commentsOf(
  path: string,
  variable: string,
  spreads: Readonly<Record<string, string>> = {},
): Map<string, string> {
  const comments = new Map<string, string>()
  const shape = objectOf(declarationOf(path, variable))
  if (shape !== undefined) gather(shape, [], comments, spreads)
  return comments
}

function gather(
  shape: ts.ObjectLiteralExpression,
  path: readonly string[],
  comments: Map<string, string>,
  spreads: Readonly<Record<string, string>>,
): void {
  for (const property of shape.properties) {
    if (ts.isSpreadAssignment(property) && ts.isIdentifier(property.expression)) {
      const module = spreads[property.expression.text]
      const spread = module === undefined ? undefined : objectOf(declarationOf(module, property.expression.text))
      if (spread !== undefined) gather(spread, path, comments, spreads)
    }
    if (!ts.isPropertyAssignment(property)) continue
    const name = ts.isStringLiteral(property.name) ? property.name.text : property.name.getText()
    const place = [...path, name]
    const text = ts
      .getJSDocCommentsAndTags(property)
      .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
      .join(' ')
    if (text !== '') comments.set(place.join('.'), plain(text))
    const inner = objectOf(property.initializer)
    if (inner !== undefined) gather(inner, place, comments, spreads)
  }
}

function declarationOf(path: string, variable: string): ts.Expression | undefined {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ESNext, true)
  for (const statement of source.statements) {
    if (!ts.isVariableStatement(statement)) continue
    const found = statement.declarationList.declarations.find(({ name }) => name.getText() === variable)
    if (found !== undefined) return found.initializer
  }
  throw new Error(`${path} declares no ${variable}`)
}

/** The object within `z.strictObject({ ... }).optional()` and the like; undefined for a field without one. */
function objectOf(expression: ts.Expression | undefined): ts.ObjectLiteralExpression | undefined {
  if (expression === undefined) return undefined
  if (ts.isObjectLiteralExpression(expression)) return expression
  if (ts.isAsExpression(expression)) return objectOf(expression.expression)
  if (!ts.isCallExpression(expression)) return undefined
  const { expression: called, arguments: given } = expression
  if (ts.isPropertyAccessExpression(called) && /^(strictO|o)bject$/.test(called.name.text)) return objectOf(given[0])
  return ts.isPropertyAccessExpression(called) ? objectOf(called.expression) : undefined
}

/** Removes the links of the source to pages, because this text is in such a page. */
function plain(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/\s*\(docs\/[^()]*\)/g, '')
    .replace(/\{@link (\w+)\}/g, '`$1`')
    .trim()
}
