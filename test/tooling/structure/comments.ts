import ts from 'typescript'
import type { Script } from './checkout.js'

export interface Comment {
  readonly position: number
  readonly end: number
  readonly isDocstring: boolean
  /** In one line, without marks. */
  readonly text: string
}

/** The comments of a script; neighbouring lines of `//` are one. Commands to tools (`biome-ignore`, `@ts-expect-error`) are left out. */
export function commentsOf({ text, syntax }: Script): readonly Comment[] {
  const code = withoutLiterals(text, syntax)
  const matches = code.matchAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*/g)
  return [...matches].flatMap((match) => {
    const [raw] = [text.slice(match.index, match.index + match[0].length)]
    if (/^\/[/*]+ *(biome-|@ts-|#|eslint)/.test(raw)) return []
    const comment = { position: match.index, end: match.index + raw.length, isDocstring: raw.startsWith('/**') }
    return [{ ...comment, text: plain(raw) }]
  })
}

/** The same length, with blanks where literals were: their contents can look like comments. */
function withoutLiterals(text: string, syntax: ts.SourceFile): string {
  let code = ''
  let end = 0
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isRegularExpressionLiteral(node) || ts.isTemplateLiteralToken(node)) {
      const start = node.getStart(syntax)
      code += text.slice(end, start) + ' '.repeat(node.end - start)
      end = node.end
    }
    node.forEachChild(visit)
  }
  visit(syntax)
  return code + text.slice(end)
}

function plain(raw: string): string {
  return raw
    .replace(/^\/\*+|\*+\/$/g, '')
    .replace(/^[ \t]*(\/\/|\*)/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}
