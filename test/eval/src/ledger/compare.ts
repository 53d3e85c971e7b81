import type { Artifact, Ledger } from '@heddle/core'
import type { Replayed, ReplayedCommand } from './replay.js'
import { SOMEWHERE } from './scratch.js'

/** Lines that begin alike are one command: a ledger shortens their names. */
const WORDS_CHARACTERS_MAX = 80
const WORDS_SHARED_MIN = 8

/** How far a ledger is that of a replay. */
export interface Compared {
  readonly same: number
  readonly all: number
  /** Each difference in a few words. */
  readonly differences: readonly string[]
}

/** Files with their last states and lines, and commands with how they ended last. */
export function compare(ledger: Ledger, replayed: Replayed): Compared {
  const parts = [compareFiles, compareLines, compareChecks, compareCommands].map((part) => part(ledger, replayed))
  return {
    same: parts.reduce((sum, { same }) => sum + same, 0),
    all: parts.reduce((sum, { all }) => sum + all, 0),
    differences: parts.flatMap(({ differences }) => differences),
  }
}

/** Each file of either is counted once. */
function compareFiles({ artifacts }: Ledger, { files, doubted, paths }: Replayed): Compared {
  const left = new Set(artifacts.filter(({ kind }) => kind === 'file'))
  const differences: string[] = []
  let [same, all] = [0, 0]
  for (const file of files) {
    const found = [...left].find(({ name }) => isSame(name, file.path))
    if (found !== undefined) left.delete(found)
    all++
    if (found?.state === file.state) same++
    else differences.push(`${shown(file.path)}: ${found?.state ?? 'missing'} instead of ${file.state}`)
  }
  for (const { name, state } of left) {
    if ([...doubted].some((path) => isSame(name, path))) continue
    all++
    // A file that was removed without having been there, or a folder.
    if ((state === 'deleted' || state === 'moved') && !paths.some((path) => isSame(name, path))) same++
    else differences.push(`${shown(name)}: ${state}, and not in the replay`)
  }
  return { same, all, differences }
}

/** Where the ledger gives lines, and the replay has the content. */
function compareLines({ artifacts }: Ledger, { files }: Replayed): Compared {
  const known = files.flatMap((file) => {
    const found = artifacts.find(({ kind, name }) => kind === 'file' && isSame(name, file.path))
    return found === undefined || found.lines === null || file.lines === null ? [] : [{ file, lines: found.lines }]
  })
  const wrong = known.filter(({ file, lines }) => lines !== file.lines)
  const differences = wrong.map(({ file, lines }) => `${shown(file.path)}: ${lines} lines instead of ${file.lines}`)
  return { same: known.length - wrong.length, all: known.length, differences }
}

/** Runs of tests, linters, compilers; `test -f` is a condition. */
const CHECKS = /(?:^|[\s:/&|;-])(?:tests?|lint|check|build|vet|compile|tsc|mypy|make)(?![\w.]| -[a-z] )/i

/** Of each file that was written: whether a check passed since, or the last one failed. */
function compareChecks({ artifacts }: Ledger, { files, commands }: Replayed): Compared {
  const differences: string[] = []
  let [same, all] = [0, 0]
  for (const file of files) {
    const checks = commands.filter(({ line, at }) => at > file.at && !isLook(line) && CHECKS.test(line))
    const found = artifacts.find(({ kind, name }) => kind === 'file' && isSame(name, file.path))
    // How a check behind a pipe ended, the output may not say.
    if (file.state !== 'written' || found?.state !== 'written' || checks.some(({ hasPassed }) => hasPassed === null))
      continue
    all++
    const passed = checks.length === 0 ? null : checks.some(({ hasPassed }) => hasPassed === true)
    if ((found.check?.passed ?? null) === passed) same++
    else
      differences.push(
        `${shown(file.path)}: check ${found.check?.passed ?? 'missing'} (${found.check?.name ?? ''}) instead of ${passed}`,
      )
  }
  return { same, all, differences }
}

/** Every command that does more than look, by its latest call. */
function compareCommands({ artifacts }: Ledger, { commands }: Replayed): Compared {
  const last = new Map<string, ReplayedCommand>()
  for (const command of commands) last.set(wordsOf(command.line).slice(0, WORDS_CHARACTERS_MAX), command)
  const own = artifacts.filter(({ kind }) => kind === 'command')
  const differences: string[] = []
  let [same, all] = [0, 0]
  for (const { line, hasPassed, code } of last.values()) {
    if (hasPassed === null || isLook(line)) continue
    const found = nearest(
      own.filter(({ codes }) => codes.includes(code)),
      wordsOf(line),
    )
    all++
    const state = hasPassed ? 'passed' : 'failed'
    if (found?.state === state) same++
    else differences.push(`\`${line.slice(0, 60)}\`: ${found?.state ?? 'missing'} instead of ${state}`)
  }
  return { same, all, differences }
}

/** The command of a message's calls whose name begins like the line. */
function nearest(artifacts: readonly Artifact[], words: string): Artifact | undefined {
  const common = ({ name }: Artifact) => [...name].findIndex((sign, index) => sign !== words[index])
  const shared = (one: Artifact) => (common(one) === -1 ? one.name.length : common(one))
  const [best] = artifacts.toSorted((left, right) => shared(right) - shared(left))
  return best !== undefined && shared(best) >= Math.min(WORDS_SHARED_MIN, best.name.length) ? best : undefined
}

/** Commands that change nothing and check nothing. */
const LOOKS =
  /^(?:ls|cat|grep|rg|find|head|tail|sed -n|wc|pwd|which|echo|file|stat|xxd|md5|git (?:-C \S+ )?(?:status|log|diff|show))\b/

function isLook(line: string): boolean {
  return LOOKS.test(wordsOf(line))
}

/** A command line as a person would call it: without its folder, and how much of the output is shown. */
function wordsOf(line: string): string {
  const [first = ''] = line.trim().split('\n')
  return first
    .replace(/\s+/g, ' ')
    .replace(/^cd \S+ && /, '')
    .replace(/ 2>&1/g, '')
    .replace(/ \| (?:head|tail)(?: -n?\s?\d+)?$/, '')
    .replaceAll('\\"', '"')
    .trim()
}

/** One of the paths may leave out folders at its start. */
function isSame(name: string, path: string): boolean {
  const given = path.startsWith(`${SOMEWHERE}/`) ? path.slice(SOMEWHERE.length + 1) : path
  return name === given || given.endsWith(`/${name}`) || name.endsWith(`/${given}`)
}

/** The end of a path, which says which file it is. */
function shown(path: string): string {
  return path.split('/').slice(-2).join('/')
}
