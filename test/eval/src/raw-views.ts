/**
 * Judges from the raw files of sessions which file views a later event made obsolete. It shares no code with the pruner,
 * on purpose: it reads the recorded JSON itself, knows the tools of these agents by name, and compares their arguments.
 */

/** A successful view of a file, as in the raw session. */
export interface RawView {
  /** The id of its call, and its index among several calls with that id, from 0: sources reuse ids. */
  readonly callId: string
  readonly occurrence: number
  /** The viewed file; a command is judged by every word in it. */
  readonly paths: readonly string[]
  /** By a tool whose purpose is to show a file; a command that shows one is judged, but need not be found. */
  readonly byTool: boolean
  /** Whether a later call of an edit tool changed the file successfully. */
  readonly editedLater: boolean
  /** Whether a later successful command line writes, moves or deletes the file. */
  readonly writtenLater: boolean
  /** Whether a later view shows all lines of this one. */
  readonly viewedLater: boolean
}

interface RawCall {
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly result: string
  readonly failed: boolean
  readonly occurrence: number
}

type Json = Record<string, unknown>
const record = (value: unknown): Json => (value !== null && typeof value === 'object' ? (value as Json) : {})
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** @param file the text of a Claude Code session (one record a line) or of a SWE-agent trajectory */
export function rawViews(file: string): RawView[] {
  // A session of Claude Code is one record a line; a trajectory is one document over many lines.
  const calls = /^\s*\{[^\n]*\}\s*\n/.test(file) ? claudeCalls(file) : sweAgentCalls(file)
  return calls.flatMap((call, index) => {
    const shown = viewedPaths(call)
    if (shown === null || call.failed) return []
    const later = calls.slice(index + 1).filter((other) => !other.failed)
    const lines = shownLines(call)
    return [
      {
        callId: call.id,
        occurrence: call.occurrence,
        paths: shown,
        byTool: call.name !== 'Bash' && call.name !== 'bash',
        editedLater: later.some((other) => shown.some((path) => edits(other, path))),
        writtenLater: later.some((other) => shown.some((path) => writes(other, path))),
        viewedLater: later.some((other) => {
          const paths = viewedPaths(other)
          if (!paths?.some((path) => shown.includes(path)) || /file unchanged/i.test(other.result.slice(0, 100)))
            return false
          const range = shownLines(other)
          if (lines !== null && range !== null) return range.first <= lines.first && range.last >= lines.last
          return sameRequest(call, other)
        }),
      },
    ]
  })
}

function claudeCalls(file: string): RawCall[] {
  const uses = new Map<string, { name: string; input: Json }>()
  const results: { id: string; result: string; isError: boolean }[] = []
  for (const line of file.split('\n')) {
    if (line.trim() === '') continue
    for (const block of list(record(record(JSON.parse(line))['message'])['content']).map(record)) {
      if (block['type'] === 'tool_use')
        uses.set(text(block['id']), { name: text(block['name']), input: record(block['input']) })
      if (block['type'] !== 'tool_result') continue
      const { content } = block
      const result =
        typeof content === 'string'
          ? content
          : list(content)
              .map((part) => text(record(part)['text']))
              .join('\n')
      results.push({ id: text(block['tool_use_id']), result, isError: block['is_error'] === true })
    }
  }
  const seen = new Map<string, number>()
  return results.flatMap(({ id, result, isError }) => {
    const use = uses.get(id)
    const occurrence = seen.get(id) ?? 0
    seen.set(id, occurrence + 1)
    if (use === undefined) return []
    const failed = isError || result.startsWith('<tool_use_error>')
    return [{ id, ...use, result, failed, occurrence }]
  })
}

function sweAgentCalls(file: string): RawCall[] {
  const history = list(record(JSON.parse(file))['history']).map(record)
  const seen = new Map<string, number>()
  return history.flatMap((message, index) => {
    if (message['role'] !== 'tool') return []
    const id = text(list(message['tool_call_ids'])[0] ?? message['tool_call_id'])
    const caller = history
      .slice(0, index)
      .findLast((other) => list(other['tool_calls']).some((call) => record(call)['id'] === id))
    const call = record(record(list(caller?.['tool_calls']).find((each) => record(each)['id'] === id))['function'])
    const occurrence = seen.get(id) ?? 0
    seen.set(id, occurrence + 1)
    const { content } = message
    const result =
      typeof content === 'string'
        ? content
        : list(content)
            .map((part) => text(record(part)['text']))
            .join('')
    const input = record(JSON.parse(text(call['arguments']) || '{}'))
    const failed = /^(your proposed edit has introduced new syntax|your edit was not applied|usage:|error)/i.test(
      result.trimStart(),
    )
    return [{ id, name: text(call['name']), input, result, failed, occurrence }]
  })
}

const SHOWS = /^\s*(?:cd\s+\S+\s*&&\s*)?(?:cat|head|tail|nl|sed\s+-n)\s/

/** The files that a call shows; null for other calls. */
function viewedPaths({ name, input, result }: RawCall): string[] | null {
  if (name === 'Read') return [text(input['file_path'])]
  if (['open', 'goto', 'scroll_up', 'scroll_down'].includes(name)) return openFile(result)
  if (name === 'Bash' || name === 'bash') {
    const command = text(input['command'])
    return SHOWS.test(command) ? words(command) : null
  }
  return null
}

/** SWE-agent names the open file below each result. */
function openFile(result: string): string[] {
  const open = /\(Open file: (.+?)\)/.exec(result)?.[1] ?? ''
  return open === '' || open === 'n/a' ? [] : [open]
}

/** Whether a call of an edit tool names the file. */
function edits({ name, input, result }: RawCall, path: string): boolean {
  if (['Edit', 'Write', 'MultiEdit'].includes(name)) return samePath(text(input['file_path']), path)
  return ['edit', 'insert', 'create'].includes(name) && openFile(result).some((open) => samePath(open, path))
}

const WRITERS = /^\s*(?:sed\s+-\w*i|perl\s+-\w*i|tee\b|mv\b|rm\b|cp\b|git\s+(?:checkout|restore|rm|mv)\b)/

/** Whether one of the commands of a line writes, moves or deletes the file. */
function writes({ name, input }: RawCall, path: string): boolean {
  if (name !== 'Bash' && name !== 'bash') return false
  return text(input['command'])
    .split(/&&|\|\|?|;|\n/)
    .some((part) => {
      const targets = [...part.matchAll(/>\s*["']?([^\s"'&<>|;]+)/g)].map((match) => match[1] ?? '')
      const named = WRITERS.test(part) ? words(part) : []
      return (
        [...targets, ...named].some((word) => samePath(word, path)) ||
        (/^\s*(?:rm|mv)\s/.test(part) && named.some((word) => path.startsWith(`${word}/`)))
      )
    })
}

function samePath(left: string, right: string): boolean {
  if (left === '' || right === '') return false
  return left === right || left.endsWith(`/${right}`) || right.endsWith(`/${left}`)
}

function words(command: string): string[] {
  return command.split(/[\s"'<>|;&()]+/).filter((word) => /[./\w]/.test(word) && !word.startsWith('-'))
}

/** The lines that a result shows by their numbers. */
function shownLines({ result }: RawCall): { first: number; last: number } | null {
  const numbers = [...result.matchAll(/^\s*(\d+)(?:→|:|\t)/gm)].map((match) => Number(match[1]))
  const first = numbers[0]
  return first === undefined ? null : { first, last: numbers.at(-1) ?? first }
}

function sameRequest(left: RawCall, right: RawCall): boolean {
  return left.name === right.name && JSON.stringify(left.input) === JSON.stringify(right.input)
}
