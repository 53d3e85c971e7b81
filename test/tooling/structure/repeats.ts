import type { Script } from './checkout.js'
import { commentsOf } from './comments.js'

/** Shorter blocks are alike by chance. */
export const REPEATED_LINES_MIN = 12

interface Line {
  readonly path: string
  readonly number: number
  readonly text: string
}

export interface Repeat {
  readonly lines: number
  /** Where each of the two begins, as `path:line`. */
  readonly places: readonly [string, string]
}

/** A block with mostly equal lines is a table, and tables resemble each other. */
const DISTINCT_LINES_MIN = 8
const KEYWORDS = new Set(
  `as async await break case catch class const continue default else export extends false finally for from function if implements in
  instanceof interface let new null of private readonly return static switch this throw true try type typeof undefined void while yield`.split(
    /\s+/,
  ),
)

/** Lines as they are, or with every name, text and number replaced by one mark, so that a copy with other names is found too. */
export type Comparison = 'lines' | 'shapes'

/**
 * Blocks of at least {@link REPEATED_LINES_MIN} lines that occur twice in the scripts. Lines are compared without indentation;
 * blank lines, comments and imports are not counted.
 */
export function repeatsIn(scripts: readonly Script[], comparison: Comparison = 'lines'): readonly Repeat[] {
  const files = scripts.map((script) => codeLines(script, comparison))
  const seen = new Map<string, { file: number; at: number }>()
  const repeats: Repeat[] = []
  files.forEach((lines, file) => {
    for (let at = 0; at + REPEATED_LINES_MIN <= lines.length; at++) {
      const key = keyOf(lines, at)
      if (key === null) continue
      const first = seen.get(key)
      if (first === undefined) {
        seen.set(key, { file, at })
        continue
      }
      const other = files[first.file] ?? []
      const length = commonLength(other, first.at, lines, at)
      repeats.push({ lines: length, places: [placeOf(other[first.at]), placeOf(lines[at])] })
      at += length - 1
    }
  })
  return repeats
}

function codeLines(script: Script, comparison: Comparison): readonly Line[] {
  let code = ''
  let end = 0
  for (const comment of commentsOf(script)) {
    code +=
      script.text.slice(end, comment.position) + script.text.slice(comment.position, comment.end).replace(/[^\n]/g, '')
    end = comment.end
  }
  code += script.text.slice(end)
  // An import or an export of another file, over several lines too.
  code = code.replace(/^(?:import|export)\b[^'"(=;]*?from '[^']+'$/gm, (text) => text.replace(/[^\n]/g, ''))
  return code.split('\n').flatMap((text, index) => {
    const trimmed = text.trim()
    const compared = comparison === 'lines' ? trimmed : shapeOf(trimmed)
    return trimmed === '' ? [] : [{ path: script.path, number: index + 1, text: compared }]
  })
}

function shapeOf(line: string): string {
  return line.replace(/'(?:[^'\\]|\\.)*'/g, '·').replace(/\w+/g, (word) => (KEYWORDS.has(word) ? word : '·'))
}

/** Null for a block that is a table. */
function keyOf(lines: readonly Line[], at: number): string | null {
  const block = lines.slice(at, at + REPEATED_LINES_MIN).map(({ text }) => text)
  return new Set(block).size < DISTINCT_LINES_MIN ? null : block.join('\n')
}

/** The length of the match of two places; a block that overlaps itself ends where its second place begins. */
function commonLength(one: readonly Line[], at: number, other: readonly Line[], otherAt: number): number {
  let length = REPEATED_LINES_MIN
  while (
    one[at + length] !== undefined &&
    one[at + length]?.text === other[otherAt + length]?.text &&
    (one !== other || at + length < otherAt)
  )
    length++
  return length
}

function placeOf(line: Line | undefined): string {
  return `${line?.path}:${line?.number}`
}
