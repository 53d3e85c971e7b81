import { dirname, posix } from 'node:path'
import ts from 'typescript'
import type { Checkout, Script } from './checkout.js'

export interface Import {
  readonly from: string
  readonly to: string
  /** Erased by the compiler: nothing is loaded because of it. */
  readonly isType: boolean
}

/** The imports between TypeScript files of the checkout; packages resolve to their sources as `heddle:source` names them. */
export function importsOf(checkout: Checkout): readonly Import[] {
  const known = new Set(checkout.scripts.map(({ path }) => path))
  const doors = packageDoors(checkout)
  return checkout.scripts.flatMap((script) =>
    specifiersOf(script).flatMap(({ specifier, isType }) => {
      const to = specifier.startsWith('.')
        ? posix.join(dirname(script.path), specifier).replace(/\.js$/, '.ts')
        : resolveDoor(doors, specifier)
      return to !== undefined && known.has(to) ? [{ from: script.path, to, isType }] : []
    }),
  )
}

function specifiersOf({ syntax }: Script): { specifier: string; isType: boolean }[] {
  const found: { specifier: string; isType: boolean }[] = []
  const visit = (node: ts.Node): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined) {
      if (ts.isStringLiteral(node.moduleSpecifier))
        found.push({ specifier: node.moduleSpecifier.text, isType: isErased(node) })
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [specifier] = node.arguments
      // Loaded when it is needed: no circle at load time, yet one file that knows the other.
      if (specifier !== undefined && ts.isStringLiteral(specifier))
        found.push({ specifier: specifier.text, isType: true })
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      const { literal } = node.argument
      if (ts.isStringLiteral(literal)) found.push({ specifier: literal.text, isType: true })
    }
    node.forEachChild(visit)
  }
  visit(syntax)
  return found
}

function isErased(node: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(node)) {
    const { exportClause } = node
    if (node.isTypeOnly || exportClause === undefined || !ts.isNamedExports(exportClause)) return node.isTypeOnly
    return exportClause.elements.length > 0 && exportClause.elements.every(({ isTypeOnly }) => isTypeOnly)
  }
  const clause = node.importClause
  if (clause === undefined) return false
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true
  const { name, namedBindings } = clause
  if (name !== undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) return false
  return namedBindings.elements.length > 0 && namedBindings.elements.every(({ isTypeOnly }) => isTypeOnly)
}

/** The exports of each package's manifest, by their import specifier: `@heddle/client/http` and the path of its source. */
function packageDoors({ paths, read }: Checkout): ReadonlyMap<string, string> {
  const doors = new Map<string, string>()
  for (const path of paths.filter((path) => /^(packages|services|test)\/[^/]+\/package\.json$/.test(path))) {
    const { name, exports = {} }: { name: string; exports?: Record<string, unknown> } = JSON.parse(read(path))
    for (const [door, target] of Object.entries(exports)) {
      const source = typeof target === 'object' && target !== null ? Reflect.get(target, 'heddle:source') : undefined
      if (typeof source === 'string') doors.set(posix.join(name, door), posix.join(dirname(path), source))
    }
  }
  return doors
}

function resolveDoor(doors: ReadonlyMap<string, string>, specifier: string): string | undefined {
  const exact = doors.get(specifier)
  if (exact !== undefined) return exact
  for (const [door, target] of doors) {
    if (door.endsWith('/*') && specifier.startsWith(door.slice(0, -1)))
      return target.replace('*', specifier.slice(door.length - 1))
  }
  return undefined
}
