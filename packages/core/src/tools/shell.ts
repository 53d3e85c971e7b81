import { readCommandLine } from './command-line.js'
import { normalizePath } from './paths.js'
import type { LineRange } from './ranges.js'

/** The use of a command line that does one thing for which agents also have a tool. */
export type ShellUse =
  | { readonly kind: 'file_view'; readonly path: string; readonly range: LineRange | null }
  | { readonly kind: 'grep'; readonly pattern: string; readonly searchPath: string | null }

/** A longer command line is a script, not a simple command. */
const COMMAND_CHARACTERS_MAX = 2_000

/**
 * Recognizes a command line that only shows one file (`cat F`, `sed -n '1,20p' F`, `head`, `tail`) or only searches
 * (`grep -rn P PATH`, `rg P PATH`, `git grep`, `find PATH -name P`), possibly after a change of directory. With pipes,
 * lists, redirections or variables it is null.
 */
export function describeCommand(command: string): ShellUse | null {
  const simple = simpleCommand(command)
  const use = simple && useOf(simple.words)
  if (!simple || !use || simple.directory === null) return use
  if (use.kind === 'file_view') return { ...use, path: normalizePath(use.path, simple.directory) }
  return use.searchPath === null ? { ...use, searchPath: simple.directory } : use
}

function useOf([name, ...rest]: readonly string[]): ShellUse | null {
  switch (name) {
    case 'cat':
    case 'nl':
    case 'less':
    case 'more':
    case 'bat':
      return viewOf(rest, () => null)
    case 'head':
      return viewOf(rest, (count) =>
        count === null ? { from: 1, to: 10 } : count > 0 ? { from: 1, to: count } : undefined,
      )
    case 'tail':
      return rest.includes('-f') || rest.includes('-F') ? null : viewOf(rest, tailRange)
    case 'sed':
      return sedView(rest)
    case 'find':
      return findOf(rest)
    case 'git':
      return rest[0] === 'grep' ? searchOf(rest.slice(1)) : null
    case 'grep':
    case 'egrep':
    case 'fgrep':
    case 'rg':
    case 'ag':
    case 'ack':
      return searchOf(rest)
    default:
      return null
  }
}

/**
 * The one simple command of a line, and the directory that the line changes to before it; null if there is more. Its
 * standard error may be redirected anywhere, since only its output is shown.
 */
function simpleCommand(command: string): { words: readonly string[]; directory: string | null } | null {
  if (command.length > COMMAND_CHARACTERS_MAX) return null
  const commands = readCommandLine(command)
  const last = commands?.at(-1)
  if (!commands || !last || last.redirectedTo.length > 0 || last.readsInput || last.isSilent) return null
  let directory: string | null = null
  for (const [index, { words }] of commands.slice(0, -1).entries()) {
    const [name, to, ...others] = words
    if (name !== 'cd' || to == null || to === '-' || others.length > 0) return null
    if (commands[index + 1]?.joinedBy !== '&&') return null
    directory = normalizePath(to, directory)
  }
  const words = last.words.flatMap((word) => (word === null ? [] : [word]))
  return words.length === last.words.length ? { words, directory } : null
}

/** `range` gets the number after `-n`; if it returns undefined, the command is no plain view. */
function viewOf(
  words: readonly string[],
  range: (count: number | null, plus: boolean) => LineRange | null | undefined,
) {
  const paths: string[] = []
  let count: number | null = null
  let plus = false
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    const number = /^(?:-n|--lines=?|-)?([-+]?)(\d{1,9})$/.exec(word)
    if (word === '-n' || word === '--lines') {
      const value = /^([-+]?)(\d{1,9})$/.exec(words[index + 1] ?? '')
      // `cat -n F` numbers the lines; `head -n 5 F` counts them.
      if (!value) continue
      index++
      count = Number(value[2])
      plus = value[1] === '+'
    } else if (word.startsWith('-') && number) {
      count = Number(number[2])
      plus = number[1] === '+'
    } else if (/^-{1,2}[a-zA-Z]/.test(word)) {
      if (word.startsWith('-c') || word.startsWith('--bytes')) return null
    } else if (word !== '--') paths.push(word)
  }
  const [path, ...others] = paths
  const shown = range(count, plus)
  if (path === undefined || path === '-' || others.length > 0 || shown === undefined) return null
  return { kind: 'file_view' as const, path, range: shown }
}

function tailRange(count: number | null, plus: boolean): LineRange | null | undefined {
  if (plus) return count === null || count <= 1 ? null : { from: count, to: null }
  return count === 0 ? undefined : { from: -(count ?? 10), to: null }
}

function sedView(words: readonly string[]): ShellUse | null {
  const [option, script, path, ...others] = words
  if (option !== '-n' || script === undefined || path === undefined || others.length > 0) return null
  const lines = /^(\d{1,9})(?:,(\+?)(\d{1,9}|\$))?p$/.exec(script)
  if (!lines) return null
  const from = Math.max(Number(lines[1]), 1)
  const end = lines[3]
  const to = end === undefined ? from : end === '$' ? null : Number(end) + (lines[2] === '+' ? from : 0)
  if (to !== null && to < from) return null
  return { kind: 'file_view', path, range: from === 1 && to === null ? null : { from, to } }
}

/** Options of grep and ripgrep that take the next word as their value. */
const VALUED =
  /^(?:-[A-Za-z]*[ABCmgtTdj]|--(?:include|exclude|exclude-dir|glob|type|max-count|context|after-context|before-context))$/

function searchOf(words: readonly string[]): ShellUse | null {
  const plain: string[] = []
  let pattern: string | null = null
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    if (word === '--') continue
    if (word === '-e' || word === '--regexp') pattern ??= words[++index] ?? null
    else if (word === '-f' || word.startsWith('--file=') || word === '--files') return null
    else if (VALUED.test(word)) index++
    else if (!word.startsWith('-') || word === '-') plain.push(word)
  }
  pattern ??= plain.shift() ?? null
  if (pattern === null) return null
  return { kind: 'grep', pattern, searchPath: plain.length === 0 ? null : plain.join(' ') }
}

/** Tests of find that only filter, with the number of their arguments. */
const FIND_TESTS = new Map([
  ...['-type', '-maxdepth', '-mindepth', '-newer', '-mtime', '-mmin', '-size'].map((test) => [test, 1] as const),
  ...['-not', '!', '-print', '-L', '-H'].map((test) => [test, 0] as const),
])
const FIND_NAMES = new Set(['-name', '-iname', '-path', '-ipath', '-wholename'])

/** `find DIR… -name PATTERN` with further filters; an action on the found files makes it no search. */
function findOf(words: readonly string[]): ShellUse | null {
  const folders: string[] = []
  let pattern: string | null = null
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    const skipped = FIND_TESTS.get(word)
    if (skipped !== undefined) index += skipped
    else if (FIND_NAMES.has(word)) pattern ??= words[++index] ?? null
    else if (word.startsWith('-')) return null
    else folders.push(word)
  }
  if (pattern === null) return null
  return { kind: 'grep', pattern, searchPath: folders.length === 0 ? null : folders.join(' ') }
}
