import type { ToolUse } from './catalog.js'
import { firstLines, lastLines } from './lines.js'
import { normalizePath } from './paths.js'
import type { LineRange } from './ranges.js'

/** The facts in a tool's result about its call. */
export interface ToolOutcome {
  /** Whether the tool reports a failure. */
  readonly failed: boolean
  /** `exit 0`, `exit 1`, `timed out` if the result says so; else `ok`, or `failed` for an obvious error. */
  readonly exitStatus: string
  /** Matches that a search found; null for other tools. */
  readonly matchCount: number | null
  /** The normalized file path; a result may be more precise than the call. */
  readonly path: string | null
  /** The current directory according to the result. */
  readonly directory: string | null
  /** The lines that a view shows, if they are numbered. */
  readonly shown: LineRange | null
}

/**
 * Last lines of a result, where agents append what is not output: SWE-agent's `(Open file: …)`, Claude Code's
 * reminders.
 */
const TAIL_LINES = 40

export function describeToolResult(use: ToolUse, content: string, isError: boolean): ToolOutcome {
  const head = firstLines(content, 12)
  const tail = lastLines(content, TAIL_LINES)
  const told = numberAfter(use.result?.exit, head, tail)
  const exit = told !== null ? `exit ${told}` : use.kind === 'bash' || use.command !== null ? exitOf(head, tail) : null
  const failed =
    isError ||
    saysFailed(use, head, tail, content.length) ||
    beginsWith(use.result?.failed, head) ||
    (exit !== null && exit !== 'exit 0')
  return {
    failed,
    exitStatus: exit ?? (failed || (use.kind === 'bash' && showsError(tail)) ? 'failed' : 'ok'),
    matchCount:
      use.kind === 'grep'
        ? failed
          ? 0
          : (numberAfter(use.result?.matches, head, tail) ?? countMatches(content, head))
        : null,
    path: pathOf(use, head, tail),
    directory: directoryOf(use, tail),
    shown: use.kind === 'file_view' && use.command === null && !failed ? shownLines(head, tail) : null,
  }
}

/** The number after one of some texts in the first or the last lines of a result. */
function numberAfter(
  texts: readonly string[] | undefined,
  head: readonly string[],
  tail: readonly string[],
): number | null {
  for (const text of texts ?? []) {
    for (const line of [...head, ...tail.toReversed()]) {
      const at = line.indexOf(text)
      const number = at === -1 ? undefined : /^\s{0,9}(-?\d{1,9})/.exec(line.slice(at + text.length))?.[1]
      if (number !== undefined) return Number(number)
    }
  }
  return null
}

function beginsWith(texts: readonly string[] | undefined, head: readonly string[]): boolean {
  const first = head.find((line) => line.trim() !== '')?.trimStart() ?? ''
  return texts?.some((text) => first.startsWith(text)) ?? false
}

const EXIT_AT_START = [/^exit code:?\s*(-?\d{1,10})\b/i, /^process exited with code (-?\d{1,10})\b/i]
/** Lines that wrap a whole result, and rarely occur in the output itself. */
const EXIT_AT_END = [
  /^[[(<\s]*(?:the )?command (?:finished|completed|exited) with (?:exit )?code:? (-?\d{1,10})\.?[\])>\s]*$/i,
  /^[[(<\s]*(?:process )?exit(?:ed with)?[ -_]?(?:code|status):? (-?\d{1,10})\.?[\])>\s]*$/i,
  /^<(?:returncode|exit_code)>(-?\d{1,10})<\/(?:returncode|exit_code)>$/,
  /"exit_?code"\s*:\s*(-?\d{1,10})/i,
]
const TIMED_OUT = /^(?:\[?command |\[?the command )?(?:timed out|timeout)\b/i

function exitOf(head: readonly string[], tail: readonly string[]): string | null {
  const first = head.slice(0, 3)
  const last = tail.filter((line) => line.trim() !== '' && !isFooter(line)).slice(-3)
  for (const [lines, patterns] of [
    [first, EXIT_AT_START],
    [[...last, ...first], EXIT_AT_END],
  ] as const) {
    for (const line of lines) {
      for (const pattern of patterns) {
        const code = pattern.exec(line)?.[1]
        if (code !== undefined) return `exit ${Number(code)}`
      }
    }
  }
  return [...first, ...last].some((line) => TIMED_OUT.test(line)) ? 'timed out' : null
}

/** Phrases for failures in tools without an error flag, each at the start of a line. */
const FAILURES = [
  /^<(?:tool_use_)?error(?:_details)?>/i,
  /^(?:error|fatal|exception|failure|invalid)\b[^\w\n]{0,3}[:\s]/i,
  /^(?:tool (?:call|execution|use) (?:failed|error)|the tool execution failed|failed to |could ?n[o']t |cannot |unable to )/i,
  /^(?:no replacement was performed|no such file|file (?:does not exist|not found)|path does not exist|permission denied)/i,
  /^(?:old_string not found|string to replace not found|apply_patch verification failed|patch failed)/i,
  /^(?:your changes have not been applied|your proposed edit has introduced new syntax error)/i,
  /^(?:this is not executed|the user doesn't want to (?:proceed|take this action)|operation (?:cancelled|aborted))/i,
]
/** A longer result that starts like an error is a file or a log about errors. */
const FAILURE_CHARACTERS_MAX = 2_000

function saysFailed(use: ToolUse, head: readonly string[], tail: readonly string[], length: number): boolean {
  const isFailure = (line: string) => FAILURES.some((pattern) => pattern.test(line.trimStart()))
  // A command's output may start with anything: only its exit status counts.
  if (use.kind === 'bash') return head[0]?.startsWith('<tool_use_error>') ?? false
  // SWE-agent shows the file again, then reports that the edit was not applied.
  if (
    use.kind === 'edit' &&
    [...head, ...tail].some((line) => /^your (?:changes have NOT been|proposed edit has)/i.test(line))
  ) {
    return true
  }
  return length <= FAILURE_CHARACTERS_MAX && isFailure(head.find((line) => line.trim() !== '') ?? '')
}

const SHOWN_ERRORS =
  /^(?:[A-Za-z_.]*(?:Error|Exception)\b: |FAIL(?:ED)?\b|fatal: |npm (?:ERR!|error) |error(?:\[\w+\])?: |panic: |make: \*\*\* |.{0,80}: (?:command not found|No such file or directory|Permission denied)$|.{0,40}\bERROR task failed)/

function showsError(tail: readonly string[]): boolean {
  return tail
    .filter((line) => line.trim() !== '' && !isFooter(line))
    .slice(-4)
    .some((line) => SHOWN_ERRORS.test(line))
}

/** SWE-agent's state below each result. */
export function isFooter(line: string): boolean {
  return /^(?:\(Open file: .*\)|\(Current directory: .*\)|bash-\$)\s*$/.test(line)
}

const FOUND = /^(?:found|showing)\s+(?:at least\s+)?(\d{1,9})\b/i
const FOUND_NONE = /^(?:no (?:matches|files|results|match)\b|0 (?:matches|results|files)\b|nothing found)/i
const MATCH_LINE = /^(?:[^:]{1,300}:)?\d{1,9}:/
const GROUP_SEPARATOR = '--'
const CONTEXT_LINE = /^(?:--$|(?:.{1,300}-)?\d{1,9}-)/
const NOTE_LINE = /^(?:\(results are truncated|\[?(?:truncated|showing)\b|<system-reminder>)/i
/** Beyond this many characters a search's lines are not read one by one. */
const SEARCHED_CHARACTERS_MAX = 1_000_000

function countMatches(content: string, head: readonly string[]): number {
  const first = head.find((line) => line.trim() !== '')?.trim()
  if (first === undefined || FOUND_NONE.test(first)) return 0
  const found = FOUND.exec(first)?.[1]
  if (found !== undefined) return Number(found)
  let lines = 0
  let matches = 0
  let separators = 0
  let hasContext = false
  for (const line of firstLines(content.slice(0, SEARCHED_CHARACTERS_MAX), Number.POSITIVE_INFINITY)) {
    if (line.trim() === '') continue
    if (isFooter(line) || NOTE_LINE.test(line)) break
    lines++
    if (line === GROUP_SEPARATOR) separators++
    if (MATCH_LINE.test(line)) matches++
    else if (CONTEXT_LINE.test(line)) hasContext = true
  }
  if (hasContext && matches > 0) return matches
  // Without line numbers only the groups of lines around matches are known.
  return separators > 0 ? separators + 1 : lines
}

function pathOf(use: ToolUse, head: readonly string[], tail: readonly string[]): string | null {
  if (use.kind !== 'file_view' && use.kind !== 'edit') return null
  const directory = directoryOf(use, tail)
  if (use.path !== null) return normalizePath(use.path, directory)
  const open = footer(tail, 'Open file') ?? /^\[File: (.+?) \(\d+ lines total\)\]$/.exec(head[0] ?? '')?.[1] ?? null
  return open === null || open === 'n/a' ? null : normalizePath(open, directory)
}

/** A command that changes the directory was not interpreted in the one that its result names. */
function directoryOf(use: ToolUse, tail: readonly string[]): string | null {
  return /(?:^|[;&\s])cd\s/.test(use.command ?? '') ? null : footer(tail, 'Current directory')
}

/** A value in SWE-agent's footer below a result. */
function footer(tail: readonly string[], label: string): string | null {
  const line = tail.map((each) => each.trim()).find((each) => each.startsWith(`(${label}: `) && each.endsWith(')'))
  return line?.slice(label.length + 3, -1) ?? null
}

/** A line number before a line, as viewers write it: `  12→`, `12\t`, `12:`, `12|`. */
export const NUMBERED = /^\s{0,9}(\d{1,9})(?:→|\t|:|\||\s\|)/

function shownLines(head: readonly string[], tail: readonly string[]): LineRange | null {
  const number = (line: string | undefined) => Number(NUMBERED.exec(line ?? '')?.[1] ?? Number.NaN)
  const from = number(head.find((line) => NUMBERED.test(line)))
  const to = number(tail.findLast((line) => NUMBERED.test(line)))
  return from >= 1 && to >= from ? { from, to } : null
}
