import { readCommandLine, type SimpleCommand } from './command-line.js'
import { normalizePath } from './paths.js'

/** A file that a command line changes, or removes with everything below it. */
export interface ShellWrite {
  readonly path: string
  /** Whether the path no longer exists, including everything below a folder. */
  readonly gone: boolean
}

/** More files in one line are a generated change. */
const WRITES_MAX = 100

/**
 * The files that a command line has written once it succeeded: `sed -i`, `> F`, `tee F`, `cp A F`, `mv A F`, `rm F`.
 * Only commands that must have run for the line to succeed count, which is its last chain of `&&`; anything only a
 * shell can expand (variables, globs, loops) is skipped. Too few files are better than too many: a view wrongly
 * considered outdated would be lost.
 */
export function shellWrites(command: string): ShellWrite[] {
  const commands = readCommandLine(command)
  if (commands === null) return []
  const start = lastChainStart(commands)
  // The directory may or may not have been changed before the chain.
  let directory: string | null | undefined = commands.slice(0, start).some((each) => each.words[0] === 'cd')
    ? undefined
    : null
  const writes: ShellWrite[] = []
  for (const [index, each] of commands.entries()) {
    if (index < start) continue
    // Only the last command of a pipeline determines its exit status.
    if (commands[index + 1]?.joinedBy === '|') continue
    if (each.words[0] === 'cd') {
      const to: string | null = each.words.length === 2 ? (each.words[1] ?? null) : null
      directory =
        to === null || to === '-'
          ? undefined
          : directory === undefined && !isAbsolute(to)
            ? undefined
            : inside(directory ?? null, to)
      continue
    }
    for (const { path, gone } of writesOf(each)) {
      if (directory === undefined && !isAbsolute(path)) continue
      writes.push({ path: inside(directory ?? null, path), gone })
      if (writes.length === WRITES_MAX) return writes
    }
  }
  return writes
}

/** The index from which on every command has succeeded if the whole line has. */
function lastChainStart(commands: readonly SimpleCommand[]): number {
  let start = commands.length - 1
  for (; start > 0; start--) {
    const { joinedBy } = commands[start] as SimpleCommand
    // Of `a || b` either may have succeeded.
    if (joinedBy === '||')
      return start + 1 < commands.length && commands[start + 1]?.joinedBy === '&&' ? start + 1 : commands.length
    if (joinedBy === ';') return start
  }
  return Math.max(start, 0)
}

function writesOf({ words, redirectedTo }: SimpleCommand): ShellWrite[] {
  const changed = (paths: readonly (string | null)[], gone = false): ShellWrite[] =>
    paths.flatMap((path) => (path === null || path === '' ? [] : [{ path, gone }]))
  const [name, ...rest] = words
  const redirected = changed(redirectedTo)
  // An unknown word might be an option that changes the meaning of the others.
  if (name === null || name === undefined || rest.includes(null)) return redirected
  const given = rest as readonly string[]
  const plain = given.filter((word) => !word.startsWith('-'))
  switch (name) {
    case 'sed':
    case 'gsed':
      return [...redirected, ...changed(sedTargets(given))]
    case 'perl':
      return [...redirected, ...changed(perlTargets(given))]
    case 'tee':
      return [...redirected, ...changed(plain)]
    case 'truncate':
      return [...redirected, ...changed(plain.slice(-1))]
    case 'rm':
    case 'unlink':
      return [...redirected, ...changed(plain, true)]
    case 'mv':
      return plain.length === 2
        ? [...redirected, ...changed(plain.slice(0, 1), true), ...changed(plain.slice(1))]
        : redirected
    case 'cp':
      return plain.length === 2 ? [...redirected, ...changed(plain.slice(1))] : redirected
    case 'git':
      return [...redirected, ...gitWrites(given)]
    default:
      return redirected
  }
}

/** The files of `sed -i SCRIPT F…`; with `-e` or `-f` every plain word is a file. macOS requires `-i ''`. */
function sedTargets(words: readonly string[]): string[] {
  const inPlace = words.findIndex((word) => /^-[nEru]*i|^--in-place/.test(word))
  if (inPlace === -1) return []
  const plain: string[] = []
  let hasScript = false
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    if (word === '-e' || word === '-f' || word === '--expression') {
      hasScript = true
      index++
    } else if (!word.startsWith('-') && word !== '') plain.push(word)
  }
  return plain.slice(hasScript ? 0 : 1)
}

/** The files of `perl -i -pe SCRIPT F…`; without a script on the line the files are unknown. */
function perlTargets(words: readonly string[]): string[] {
  const hasScript = words.some((word) => /^-\w*e$/.test(word))
  if (!hasScript || !words.some((word) => /^-\w*i/.test(word))) return []
  return words.filter((word) => !word.startsWith('-')).slice(1)
}

function gitWrites(words: readonly string[]): ShellWrite[] {
  const [verb, ...rest] = words
  const plain = rest.filter((word) => !word.startsWith('-'))
  if (verb === 'rm' && !rest.includes('--cached')) return plain.map((path) => ({ path, gone: true }))
  if (verb === 'mv' && plain.length === 2) {
    return plain.map((path, index) => ({ path, gone: index === 0 }))
  }
  if (verb === 'restore' && !rest.includes('--staged')) return plain.map((path) => ({ path, gone: false }))
  const dashes = rest.indexOf('--')
  if (verb === 'checkout' && dashes !== -1) return rest.slice(dashes + 1).map((path) => ({ path, gone: false }))
  return []
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || path.startsWith('~')
}

function inside(directory: string | null, path: string): string {
  return directory === null ? path : normalizePath(path, directory)
}
