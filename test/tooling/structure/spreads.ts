import ts from 'typescript'
import type { Script } from './checkout.js'

/** Spreads of an object that may be absent: `...(x && { x })` and `...(x ? { x } : {})`, in objects. */
export function conditionalSpreads({ syntax }: Script): number {
  let count = 0
  const visit = (node: ts.Node): void => {
    if (ts.isSpreadAssignment(node) && isConditional(node.expression)) count++
    node.forEachChild(visit)
  }
  visit(syntax)
  return count
}

function isConditional(expression: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(expression)) return isConditional(expression.expression)
  if (ts.isConditionalExpression(expression)) return isEmpty(expression.whenTrue) || isEmpty(expression.whenFalse)
  return ts.isBinaryExpression(expression) && expression.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken
}

function isEmpty(expression: ts.Expression): boolean {
  return ts.isObjectLiteralExpression(expression) && expression.properties.length === 0
}
