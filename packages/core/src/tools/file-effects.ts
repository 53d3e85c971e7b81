import { readCommandLine, type SimpleCommand } from './command-line.js'
import { effectsOf, type FileEffect, redirectionsOf, viewsOf } from './file-commands.js'
import { firstLines, lastLines } from './lines.js'
import { normalizePath } from './paths.js'
import { isAbsolute, lastChainStart } from './shell-writes.js'
import { unrollLoop } from './unroll-loop.js'

/** How a command line ended. */
export interface CommandEnd {
  readonly hasSucceeded: boolean
  /** Whether it ran; a call that was refused, or whose end nobody knows, changed nothing that is known. */
  readonly hasRun: boolean
  readonly output: string
}

/** Commands that print a message with their name when they fail, and otherwise have succeeded. */
const SPEAKING = new Set(
  'rm rmdir unlink mv cp touch mkdir sed gsed tee truncate cat head tail nl echo printf cd pwd true : export ln'.split(
    ' ',
  ),
)
/** More changes of one line are a generated change. */
const EFFECTS_MAX = 100
/** Lines of an output in which messages are searched, at its start and at its end. */
const OUTPUT_LINES = 40
const SHELL_MESSAGE = /^(?:\S{0,40}\/)?(?:(?:ba|z|da)?sh|\(eval\)):/

/**
 * The changes of files by a command line, in order: those that must have happened because the line succeeded, as in
 * {@link shellWrites}, and those of commands that ran and said nothing of a failure, also of a line that failed elsewhere.
 * Of a command that failed for some of its files, the others count. Loops over plain words and a group in brackets are
 * read, too.
 */
export function fileEffects(command: string, { hasSucceeded, hasRun, output }: CommandEnd): FileEffect[] {
  if (!hasRun) return []
  const commands = commandsOf(command)
  const messages = [...firstLines(output, OUTPUT_LINES), ...lastLines(output, OUTPUT_LINES)]
  const line = new Line(commands, hasSucceeded, messages)
  return line.isExplained ? line.effects().slice(0, EFFECTS_MAX) : []
}

function commandsOf(command: string): readonly SimpleCommand[] {
  const unrolled = unrollLoop(command) ?? groupIn(command)
  return readCommandLine(unrolled ?? command) ?? []
}

function groupIn(command: string): string | null {
  const text = command.trim()
  if (!text.startsWith('(') || !text.endsWith(')')) return null
  const inner = text.slice(1, -1)
  return /[()]/.test(inner) ? null : inner
}

class Line {
  readonly #certainFrom: number

  constructor(
    private readonly commands: readonly SimpleCommand[],
    private readonly hasSucceeded: boolean,
    private readonly messages: readonly string[],
  ) {
    this.#certainFrom = hasSucceeded ? lastChainStart(commands) : commands.length
  }

  /** A line that failed has a command which may fail without a message, or which printed one. */
  get isExplained(): boolean {
    return this.hasSucceeded || this.commands.some((each) => !this.#speaks(each) || this.#messagesOf(each).length > 0)
  }

  effects(): FileEffect[] {
    const effects: FileEffect[] = []
    // Null is the folder of the session; undefined is one that nobody knows.
    let folder: string | null | undefined = null
    let hasPassed = true
    let isReached = true
    for (const [index, command] of this.commands.entries()) {
      if (command.joinedBy === ';') isReached = true
      else if (command.joinedBy === '&&') isReached = isReached && hasPassed
      else if (command.joinedBy === '||') isReached = false
      const isPiped = this.commands[index + 1]?.joinedBy === '|'
      const isCertain = index >= this.#certainFrom && !isPiped
      const messages = this.#messagesOf(command)
      const speaks = this.#speaks(command)
      hasPassed = isCertain || (isReached && speaks && messages.length === 0)
      if (command.words[0] === 'cd') folder = hasPassed ? folderAfter(folder, command) : undefined
      else if (isCertain || isReached) {
        const own = [...viewsOf(command), ...effectsOf(command)].filter(
          (effect) => hasPassed || (speaks && isSpared(messages, effect)),
        )
        // A shell opens the files of redirections before it starts the command.
        const opened = redirectionsOf(command).filter(({ path }) => !this.#isDeniedByShell(path))
        effects.push(...[...(isPiped ? [] : own), ...opened].flatMap((each) => inFolder(each, folder)))
      }
    }
    return effects
  }

  #speaks({ words, hidesErrors }: SimpleCommand): boolean {
    const [name] = words
    return SPEAKING.has(name ?? '') && (!hidesErrors || name === 'echo' || name === 'printf')
  }

  #messagesOf({ words }: SimpleCommand): readonly string[] {
    const [name] = words
    if (name == null || !SPEAKING.has(name)) return []
    return this.messages.filter((line) => withoutShell(line).startsWith(`${name}: `))
  }

  #isDeniedByShell(path: string): boolean {
    return this.messages.some((line) => SHELL_MESSAGE.test(line) && hasPath(line, path))
  }
}

/** `bash: line 1: cd: src: No such file or directory` without its first two parts. */
function withoutShell(line: string): string {
  if (!SHELL_MESSAGE.test(line)) return line
  return line.replace(/^[^:]{0,80}: ?/, '').replace(/^(?:line )?\d{1,9}: /, '')
}

/** Whether all messages are about other files. */
function isSpared(messages: readonly string[], effect: FileEffect): boolean {
  const paths = [effect.path, ...('to' in effect ? [effect.to] : [])]
  return (
    messages.length > 0 && messages.every((line) => NAMES_FILE.test(line) && !paths.some((path) => hasPath(line, path)))
  )
}

const NAMES_FILE = /['"‘`/.]/

/** Whether a message has a path that is not a part of a longer one. */
function hasPath(line: string, path: string): boolean {
  for (let at = line.indexOf(path); at !== -1; at = line.indexOf(path, at + 1)) {
    const isPart = (sign: string) => /[\w./-]/.test(sign)
    if (!isPart(line.charAt(at - 1)) && !isPart(line.charAt(at + path.length))) return true
  }
  return false
}

function folderAfter(before: string | null | undefined, { words }: SimpleCommand): string | null | undefined {
  const [, to, ...others] = words
  if (to == null || to === '-' || others.length > 0) return undefined
  if (before === undefined && !isAbsolute(to)) return undefined
  return normalizePath(to, before ?? null)
}

function inFolder(effect: FileEffect, folder: string | null | undefined): FileEffect[] {
  const inside = (path: string) => (folder == null || isAbsolute(path) ? path : normalizePath(path, folder))
  const paths = [effect.path, ...('to' in effect ? [effect.to] : [])]
  if (folder === undefined && !paths.every(isAbsolute)) return []
  return [
    'to' in effect
      ? { ...effect, path: inside(effect.path), to: inside(effect.to) }
      : { ...effect, path: inside(effect.path) },
  ]
}
