import { readCommandLine, type SimpleCommand } from './command-line.js'
import { effectsOf, type FileEffect, redirectionsOf } from './file-commands.js'
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
export function lastChainStart(commands: readonly SimpleCommand[]): number {
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

/** Where a moved file went, or a copied one. */
function targetOf({ path, to, isInto }: Extract<FileEffect, { to: string }>): string {
  return isInto ? normalizePath(`${to}/${path.slice(path.lastIndexOf('/') + 1)}`) : to
}

function writesOf(command: SimpleCommand): ShellWrite[] {
  const effects = [...redirectionsOf(command), ...effectsOf(command)]
  return effects.flatMap((effect): ShellWrite[] => {
    const { kind, path } = effect
    const target = 'to' in effect ? [{ path: targetOf(effect), gone: false }] : []
    if (kind === 'remove' || kind === 'move') return [{ path, gone: true }, ...target]
    return kind === 'write' ? [{ path, gone: false }] : target
  })
}

export function isAbsolute(path: string): boolean {
  return path.startsWith('/') || path.startsWith('~')
}

function inside(directory: string | null, path: string): string {
  return directory === null ? path : normalizePath(path, directory)
}
