import type { ToolCall } from '@heddle/contracts'
import type { SummarySource } from '../speech/source.js'
import { readArguments } from '../tools/arguments.js'
import { describeToolCall, type ToolCatalog, type ToolUse } from '../tools/catalog.js'
import { oneLine, sliceWhole, truncate } from '../tools/lines.js'

/** A call as a summary needs it. */
export interface Action {
  readonly name: string
  readonly use: ToolUse
  /** The command, or the call in a few words. */
  readonly label: string
  /** The text that an edit removes; `added` is the text it inserts, or all words of other calls. */
  readonly removed: string
  readonly added: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Calls read per message. */
const CALLS_MAX = 100

/** The calls of a message: its structured calls, or else those parsed from its text. */
export function actionsOf(source: SummarySource): Action[] {
  return (source.calls ?? callsIn(source.text)).slice(0, CALLS_MAX).map((call) => actionOf(call))
}

/** The calls at the end of a text, each `[called name arguments]` on a line of its own; arguments may be cut. */
function callsIn(text: string): ToolCall[] {
  const start = text.startsWith('[called ') ? 0 : text.indexOf('\n[called ') + 1
  if (start === 0 && !text.startsWith('[called ')) return []
  const calls: ToolCall[] = []
  for (const line of text.slice(start).split('\n')) {
    const called = /^\[called (\S{1,200})(?: (.*))?$/.exec(line)
    if (!called) continue
    const name = called[1]?.replace(/\]$/, '') ?? ''
    calls.push({ id: name, name, arguments: (called[2] ?? '').replace(/\]$/, '') })
  }
  return calls
}

const OLD_FIELD = /^old/i
/** Fields that locate an edit, and are not part of the written text. */
const PLACE_FIELD = /path|file_?name|uri|command$|description|id$|mode$/i
const TEXT_CHARACTERS_MAX = 20_000

/** @param catalog by default without tools of the user's own */
export function actionOf(call: ToolCall, catalog?: ToolCatalog): Action {
  const given = readArguments(call)
  const use = describeToolCall(call, catalog, given)
  const { fields, text } = given
  const removed: string[] = []
  const added: string[] = text === null ? [] : [text]
  const read = (key: string, value: unknown, depth: number): void => {
    if (typeof value === 'string') {
      if (use.kind !== 'edit') added.push(value)
      else if (OLD_FIELD.test(key)) removed.push(value)
      else if (!PLACE_FIELD.test(key)) added.push(value)
    } else if (typeof value === 'object' && value !== null && depth < 4) {
      for (const [inner, each] of Object.entries(value).slice(0, 200))
        read(/^\d+$/.test(inner) ? key : inner, each, depth + 1)
    }
  }
  read('', fields, 0)
  const joined = (parts: readonly string[]) => truncate(parts.join('\n'), TEXT_CHARACTERS_MAX)
  const label = labelOf(call.name, use, fields, typeof call.arguments === 'string' ? call.arguments : '')
  return { name: call.name, use, label, removed: joined(removed), added: joined(added), fields }
}

const LABEL_CHARACTERS_MAX = 100
const PATTERN_CHARACTERS_MAX = 50
/** An agent's tools for its own planning: nobody will ask about their effects. */
const INWARD = /^(?:todo|task|think|plan|update_plan|exit_?plan|enter_?plan|sequentialthinking)/i

function labelOf(name: string, use: ToolUse, fields: Readonly<Record<string, unknown>>, given: string): string {
  if (use.command !== null || use.kind === 'bash') {
    const command = use.command ?? /"(?:command|cmd)"\s*:\s*"((?:[^"\\]|\\.){0,400})/.exec(given)?.[1] ?? ''
    return commandLabel(command)
  }
  if (use.kind === 'grep') {
    const where = use.searchPath === null ? '' : ` in ${use.searchPath}`
    return use.pattern === null
      ? ''
      : truncate(
          oneLine(`search for \`${truncate(oneLine(use.pattern, 80), PATTERN_CHARACTERS_MAX)}\`${where}`),
          LABEL_CHARACTERS_MAX,
        )
  }
  if (use.kind !== 'other' || INWARD.test(name)) return ''
  const values = Object.entries(fields).flatMap(([key, value]) => {
    if (typeof value === 'number') return [`${key} ${value}`]
    return typeof value === 'string' && value !== '' ? [`${key} ${truncate(oneLine(value, 80), 60)}`] : []
  })
  return truncate(oneLine([name, values.slice(0, 6).join(', ')].join(' ')), LABEL_CHARACTERS_MAX)
}

/** A label shows the beginning of a line, so only this much of a long line is read. */
const LABEL_CHARACTERS_READ = 4_000

/** A command line without the parts that depend on the session: the working directory, and how much output is shown. */
function commandLabel(command: string): string {
  const [first = '', second = ''] = command
    .replaceAll('\\n', '\n')
    .trimStart()
    .split('\n', 2)
    .map((line) => sliceWhole(line, LABEL_CHARACTERS_READ))
  // For a heredoc, such as a commit message, the first line says more than the delimiter before it.
  const line = /\$\(cat\s*<</.test(first)
    ? `${first.replace(/"?\$\(cat\s*<<.*$/, '')}"${second}"`
    : first.replace(/\s*<<-?\s*\\?['"]?\w+['"]?\s*$/, '')
  const bare = oneLine(line)
    .replaceAll('\\"', '"')
    .replace(/^cd \S+ && /, '')
    .replace(/(?: 2>&1)?(?: \| (?:head|tail)(?: -n?\s?\d+)?)?$/, '')
    .replace(/ 2>&1/g, '')
  return truncate(bare, LABEL_CHARACTERS_MAX)
}
