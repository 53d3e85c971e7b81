import { errorLine } from '../prune/one-line.js'
import { isOnlySigns, oneLine, truncate } from '../tools/lines.js'
import { isProtocol, speechOf } from './sentences.js'

const LINES_MAX = 400

/** Copied lines: of a diff, of code, of a stack trace or of a log. */
const COPIED_LINES = [
  /^[+-](?:\s{2,}|\t)/,
  /^@@ -\d/,
  /^\s*at .{1,200}[:(]\d+(?::\d+)?\)?$/,
  /^\s*File ".{1,200}", line \d+/,
  /^Traceback \(most recent call last\)/,
  /^\s*[[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d/,
  /^\s*(?:\/\/|\/\*|\*\/|#include|import .* from ['"]|\}|\w[\w.]*\(.{0,200}\)\s*[;{]\s*$)/,
  /[;{]\s*$/,
]

/** A user's text without copied parts; all of it if nothing else is left. */
export function withoutCopied(text: string): string {
  let inCode = false
  const own = text.split('\n').filter((line) => {
    if (/^\s*(?:```|~~~)/.test(line)) {
      inCode = !inCode
      return false
    }
    return !inCode && !COPIED_LINES.some((pattern) => pattern.test(line.slice(0, 400)))
  })
  return own.some((line) => !isOnlySigns(line)) ? own.join('\n') : text
}

const ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)]|\[[ x]\]|#{1,6})\s+/i

const FENCED = /^[ \t]{0,100}(?:```|~~~)[^\n]*\n([\s\S]{0,6000}?)^[ \t]{0,100}(?:```|~~~)[^\S\n]*$/gm
const FENCED_CHARACTERS_MAX = 120

/** A user's request on one line: list items are separated, and pasted text is reduced to its error. */
export function requestWords(text: string): string {
  const parts: string[] = []
  let isNew = false
  const speech = speechOf(text).replace(FENCED, (_, pasted: string) => {
    const error = errorLine(pasted)
    return error === null ? '' : `(${truncate(oneLine(error), FENCED_CHARACTERS_MAX)})`
  })
  for (const line of withoutCopied(speech).split('\n', LINES_MAX)) {
    if (isOnlySigns(line) || isProtocol(line.trim())) {
      isNew = true
      continue
    }
    const words = oneLine(line.replace(ITEM, '')).replaceAll('**', '')
    const before = parts.at(-1)
    if (before !== undefined && (isNew || ITEM.test(line)) && /[\p{L}\p{N})"'`]$/u.test(before)) {
      parts[parts.length - 1] = `${before};`
    }
    // Lines below a heading or an item belong to it.
    isNew = ITEM.test(line) && line.trimStart().startsWith('#')
    parts.push(words)
  }
  return parts.join(' ').trim()
}
