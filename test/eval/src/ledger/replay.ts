import type { Message } from '@heddle/core'
import { type ReplayedFile, Scratch, SOMEWHERE } from './scratch.js'
import { Shell } from './shell.js'

/** A command line of a session, and how it ended. */
export interface ReplayedCommand {
  readonly line: string
  /** Null if its exit status is that of another command, and the output does not say. */
  readonly hasPassed: boolean | null
  /** The code of the message that called it. */
  readonly code: string
  /** The number of the call. */
  readonly at: number
}

export interface Replayed {
  readonly files: readonly ReplayedFile[]
  /** Files and folders that are there at the end. */
  readonly paths: readonly string[]
  /** Files that a command may have changed, or not. */
  readonly doubted: ReadonlySet<string>
  /** In the order of their results. */
  readonly commands: readonly ReplayedCommand[]
  /** Command lines that the replay cannot read. */
  readonly unread: number
}

interface Call {
  readonly name: string
  readonly given: Readonly<Record<string, unknown>>
  readonly code: string
}

const TOOLS = new Set(['Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Bash'])

/** Whether a session has calls that the replay knows: those of Claude Code. */
export function isReplayable(messages: readonly Message[]): boolean {
  return messages.some(({ toolCalls }) => toolCalls.some(({ name }) => TOOLS.has(name)))
}

/** Replays the calls of Claude Code on a scratch folder, by their arguments and results alone. */
export function replay(messages: readonly Message[]): Replayed {
  const scratch = new Scratch()
  try {
    const shell = new Shell(scratch)
    const calls = new Map<string, Call>()
    const commands: ReplayedCommand[] = []
    let unread = 0
    for (const message of messages) {
      for (const { id, name, arguments: given } of message.toolCalls) {
        if (typeof given === 'object') calls.set(id, { name, given, code: message.code })
      }
      const call = calls.get(message.toolCallId ?? '')
      if (message.role !== 'tool_result' || call === undefined) continue
      calls.delete(message.toolCallId ?? '')
      const end = endOf(message)
      scratch.now++
      if (call.name !== 'Bash') {
        if (end === 'passed') useFile(call, message.content, scratch, shell)
        continue
      }
      const line = String(call.given['command'] ?? '')
      commands.push({
        line,
        hasPassed: end === 'refused' ? false : judge(line, end, message.content),
        code: call.code,
        at: scratch.now,
      })
      if (end !== 'refused' && !shell.run(line, { hasSucceeded: end === 'passed', output: message.content })) unread++
    }
    return { files: scratch.files(), paths: scratch.paths(), doubted: scratch.doubtful, commands, unread }
  } finally {
    scratch.remove()
  }
}

function endOf({ isError, content }: Message): 'passed' | 'failed' | 'refused' {
  if (/^(?:<tool_use_error>|The user doesn't want to (?:proceed|take this action))/.test(content)) return 'refused'
  return isError || /^Exit code [1-9]/.test(content) ? 'failed' : 'passed'
}

function useFile({ name, given }: Call, result: string, scratch: Scratch, { folder }: Shell): void {
  const field = (key: string) => (typeof given[key] === 'string' ? given[key] : '')
  const named = field('file_path') || field('notebook_path')
  if (named === '') return
  const path = named.startsWith('/') ? named : `${folder === '' ? SOMEWHERE : folder}/${named}`
  if (name === 'Read') scratch.view(path, isWhole(given) ? contentIn(result) : null)
  else if (name === 'Write') scratch.write(path, field('content'))
  else if (name === 'Edit') scratch.edit(path, field('old_string'), field('new_string'), given['replace_all'] === true)
  else if (name === 'MultiEdit' && Array.isArray(given['edits'])) {
    for (const edit of given['edits']) {
      scratch.edit(path, String(edit.old_string ?? ''), String(edit.new_string ?? ''), edit.replace_all === true)
    }
  } else if (name === 'NotebookEdit') scratch.write(path, null)
}

function isWhole(given: Call['given']): boolean {
  return given['offset'] === undefined && given['limit'] === undefined
}

/** Lines of a longer view are left out by the tool. */
const LINES_SHOWN_MAX = 2_000

/** The content of a view with numbered lines; null for anything else. */
function contentIn(result: string): string | null {
  const lines = result.split('\n')
  const end = lines.findIndex((line) => !/^\s*\d+(?:→|\t)/.test(line))
  const numbered = end === -1 ? lines : lines.slice(0, end)
  if (numbered.length === 0 || numbered.length >= LINES_SHOWN_MAX) return null
  return numbered.map((line) => `${line.replace(/^\s*\d+(?:→|\t)/, '')}\n`).join('')
}

/** Lines by which programs report a failure: compilers, test runners, shells. */
const REPORTED =
  /^(?:--- FAIL|FAIL\b|FAILED\b|Error: |error: |fatal: |panic: |make: \*\*\*|npm ERR!|exit status [1-9]|\S+\.\w+:\d+:\d+: \S|\[\S+\] ERROR task failed|\(eval\):\d+: |\w+: .*(?:No such file|cannot ))/m

/** The exit status where it is that of the command, and the output otherwise; null if they differ. */
export function judge(line: string, end: 'passed' | 'failed', output: string): boolean | null {
  if (end === 'failed') return false
  const isHidden = /\||;|\n/.test(line.trim())
  if (!isHidden) return true
  return REPORTED.test(output) ? null : true
}
