import type { ToolUse } from '../tools/catalog.js'
import { countLines, firstLines, isOnlySigns, lastLines, oneLine, truncate } from '../tools/lines.js'
import { isFooter, NUMBERED, type ToolOutcome } from '../tools/results.js'
import { topSymbols } from './symbols.js'

/** Longer texts need a summarizer. */
export const SUMMARY_CHARACTERS_MAX = 160

/** A one-line summary of a message, made without a model. Never empty, never more than 160 characters. */
export function summarizeInOneLine(content: string, use: ToolUse | null, outcome: ToolOutcome | null): string {
  const line = describe(content, use, outcome)
  // A condensed line contains only one reference, its own.
  return truncate(oneLine(line).replaceAll('[recall:', '[recall '), SUMMARY_CHARACTERS_MAX) || 'empty'
}

function describe(content: string, use: ToolUse | null, outcome: ToolOutcome | null): string {
  if (outcome?.failed) return `failed: ${failureLine(content, use) || outcome.exitStatus}`
  switch (use?.kind) {
    case 'file_view':
      return describeFile(content, outcome?.path ?? use.path, outcome?.shown ?? null)
    case 'bash':
      return errorLine(content) ?? lastMeaningfulLine(content)
    case 'grep':
      return outcome?.matchCount === 0 ? 'no matches' : firstMeaningfulLine(content)
    case undefined:
      return replySubject(content)
    default:
      return firstMeaningfulLine(content)
  }
}

/** A log states its failure at the end; other tools state it first, then quote. */
function failureLine(content: string, use: ToolUse | null): string {
  return (use?.kind === 'bash' ? errorLine(content) : null) ?? firstMeaningfulLine(content)
}

/** The subject of a long reply: its first heading, else its first line that does more than introduce the next. */
function replySubject(content: string): string {
  const lines = firstLines(content, 60)
  const line =
    lines.find((candidate) => /^#{1,4}\s+\S/.test(candidate)) ??
    lines.find((candidate) => !isOnlySigns(candidate) && !isNoise(candidate) && !candidate.trimEnd().endsWith(':'))
  return line === undefined ? firstMeaningfulLine(content) : plainText(line)
}

/** Lines of a file that are searched for symbols. */
const FILE_LINES_MAX = 3_000

function describeFile(content: string, path: string | null, shown: ToolOutcome['shown']): string {
  const lines = firstLines(content, FILE_LINES_MAX)
  const plain =
    shown === null ? lines : lines.flatMap((line) => (NUMBERED.test(line) ? [line.replace(NUMBERED, '')] : []))
  const extent =
    shown === null
      ? counted(countLines(content))
      : shown.from === 1
        ? counted(shown.to ?? 1)
        : `lines ${shown.from}-${shown.to}`
  const symbols = topSymbols(plain, path)
  const telling =
    symbols.length > 0 ? symbols.join(', ') : truncate(plain.find((line) => !isOnlySigns(line))?.trim() ?? '', 60)
  return telling === '' ? extent : `${extent}: ${telling}`
}

function counted(lines: number): string {
  return lines === 1 ? '1 line' : `${lines} lines`
}

/** Lines before the end of a log that are searched for its last error. */
const LOG_LINES_MAX = 400
const STRONG_ERROR =
  /^\s*(?:[\w.]*(?:Error|Exception)\b:? \S|--- FAIL|FAIL(?:ED)? \S|fatal: |panic: |error(?:\[\w+\])?: |npm (?:ERR!|error) |make(?:\[\d+\])?: \*\*\* |✗ |✖ |E {3}\S|.{1,200}:\d+(?::\d+)?: (?:error\b|undefined\b|cannot\b))/
const WEAK_ERROR = /\b(?:error|exception|failed|failure|fatal|cannot|could not|not found|denied|refused|undefined)\b/i
const NO_ERROR = /\b(?:0|no) (?:\w+ )?(?:errors?|failures?|failed|issues|problems)\b|\bfailed:? 0\b|errors?: 0\b/i

/** The last line of a result that reports an error, or null. */
export function errorLine(content: string): string | null {
  const lines = lastLines(content, LOG_LINES_MAX)
    .filter((line) => !isFooter(line) && !isOnlySigns(line))
    .map(withoutTags)
  const isReal = (line: string) => line.trim().length > 6 && !NO_ERROR.test(line)
  const strong = lines.findLast((line) => STRONG_ERROR.test(line) && isReal(line))
  return (strong ?? lines.findLast((line) => WEAK_ERROR.test(line) && isReal(line)))?.trim() ?? null
}

/** The first line with content: not blank, a fence, a rule, or an exit code. */
export function firstMeaningfulLine(content: string): string {
  const lines = firstLines(content, 200).map(withoutTags)
  const line = lines.find((candidate) => !isOnlySigns(candidate) && !isNoise(candidate))
  return plainText(line ?? '')
}

function lastMeaningfulLine(content: string): string {
  const line = lastLines(content, 60).findLast((candidate) => !isOnlySigns(candidate) && !isNoise(candidate))
  return plainText(line ?? '') || 'no output'
}

function isNoise(line: string): boolean {
  return isFooter(line) || /^\s*(?:```|exit code \d+\s*$|<\/?[a-z_-]+>\s*$|\[File: )/i.test(line)
}

function withoutTags(line: string): string {
  return line.replace(/^\s*<\/?[a-z_]{1,40}>|<\/[a-z_]{1,40}>\s*$/gi, '')
}

/** A line without Markdown and JSON punctuation. */
function plainText(line: string): string {
  const trimmed = line.trim()
  if (/^(?:\{|\[\s*[{"[])/.test(trimmed)) return trimmed.replace(/["{}[\]]+/g, '')
  return trimmed
    .replace(/^(?:#{1,6}|>|[-*+]|\d{1,3}[.)])\s+/, '')
    .replaceAll('**', '')
    .trim()
}
