import { readWord } from './command-words.js'

/**
 * Parses command lines as far as pruning needs: the simple commands, how they are joined, and the files of their
 * redirections. It is no shell: anything it cannot read with certainty (loops, groups, an unterminated quote) makes the
 * whole line unknown, and a word whose value only a shell knows is null.
 */
export interface SimpleCommand {
  /** Null for a word with a variable, a glob or a substitution in it. */
  readonly words: readonly (string | null)[]
  /**
   * Files that its output is redirected to; null if only a shell knows the name. Without `/dev/null` and other
   * descriptors.
   */
  readonly redirectedTo: readonly (string | null)[]
  /** Whether its input is redirected from a file or a here-document. */
  readonly readsInput: boolean
  /** Whether its output is discarded. */
  readonly isSilent: boolean
  /** Whether its error messages are redirected, so that a failure is not shown. */
  readonly hidesErrors: boolean
  /** The operator that joins it to the previous command. The first has `;`. */
  readonly joinedBy: '&&' | '||' | '|' | ';'
}

/** A longer command line usually writes a file, and only its first words would matter. */
const CHARACTERS_MAX = 200_000
/** Words that open or join commands which may run not at all, or more than once. */
const CONTROL = new Set([
  'if',
  'for',
  'while',
  'until',
  'case',
  'select',
  'function',
  'then',
  'do',
  'else',
  'elif',
  '{',
  '!',
])

interface Draft {
  words: (string | null)[]
  redirectedTo: (string | null)[]
  readsInput: boolean
  isSilent: boolean
  hidesErrors: boolean
  joinedBy: SimpleCommand['joinedBy']
}

/** @returns null for anything but a plain list of simple commands */
export function readCommandLine(line: string): SimpleCommand[] | null {
  if (line.length > CHARACTERS_MAX) return null
  const commands: Draft[] = []
  let current = draft(';')
  let heredocs: { word: string; tabs: boolean }[] = []
  const close = (joinedBy: SimpleCommand['joinedBy']): boolean => {
    if (current.words.length > 0 || current.redirectedTo.length > 0) {
      if (CONTROL.has(current.words[0] ?? '')) return false
      commands.push(current)
    }
    current = draft(joinedBy)
    return true
  }
  for (let at = 0; at < line.length; ) {
    const character = line.charAt(at)
    if (character === ' ' || character === '\t' || character === '\r') at++
    else if (character === '\\' && line.charAt(at + 1) === '\n') at += 2
    else if (character === '#') at = endOfLine(line, at)
    else if (character === '\n') {
      at++
      for (const heredoc of heredocs) {
        const end = endOfHeredoc(line, at, heredoc)
        if (end === -1) return null
        at = end
      }
      heredocs = []
      if (!close(current.words.length === 0 ? current.joinedBy : ';')) return null
    } else if (character === '(' || character === ')') return null
    else if (character === '&' && line.charAt(at + 1) !== '>') {
      // A background command may still run after the line has ended.
      if (line.charAt(at + 1) !== '&') return null
      if (!close('&&')) return null
      at += 2
    } else if (character === '|') {
      const isOr = line.charAt(at + 1) === '|'
      if (!close(isOr ? '||' : '|')) return null
      at += isOr || line.charAt(at + 1) === '&' ? 2 : 1
    } else if (character === ';') {
      if (line.charAt(at + 1) === ';' || !close(';')) return null
      at++
    } else if (character === '<' || character === '>' || /^(?:\d+|&)[<>]/.test(line.slice(at, at + 12))) {
      const operator = /^(?:\d+|&)?(?:<<<|<<-?|<&|<>|<|>>|>&|>\||>)/.exec(line.slice(at, at + 16))?.[0]
      if (operator === undefined) return null
      at += operator.length
      if (line.charAt(at) === '(') return null
      while (line.charAt(at) === ' ' || line.charAt(at) === '\t') at++
      const target = readWord(line, at)
      if (target === null || target.end === at) return null
      at = target.end
      current.hidesErrors ||= /^[2&]>/.test(operator) && target.value !== '1'
      if (operator.includes('<<') && !operator.includes('<<<')) {
        if (target.value === null) return null
        heredocs.push({ word: target.value, tabs: operator.endsWith('-') })
        current.readsInput = true
      } else if (operator.includes('<')) current.readsInput = true
      else if (target.value === '/dev/null') current.isSilent ||= !operator.startsWith('2')
      else if (!(operator.endsWith('>&') && /^(?:\d+|-)$/.test(target.value ?? ''))) {
        current.redirectedTo.push(target.value)
      }
    } else {
      const word = readWord(line, at)
      if (word === null) return null
      current.words.push(word.value)
      at = word.end
    }
  }
  if (heredocs.length > 0 || !close(';')) return null
  return commands
}

function draft(joinedBy: SimpleCommand['joinedBy']): Draft {
  return { words: [], redirectedTo: [], readsInput: false, isSilent: false, hidesErrors: false, joinedBy }
}

function endOfLine(line: string, at: number): number {
  const end = line.indexOf('\n', at)
  return end === -1 ? line.length : end
}

/** Start of the line after a here-document, which ends with a line equal to `word`; -1 without one. */
function endOfHeredoc(line: string, start: number, { word, tabs }: { word: string; tabs: boolean }): number {
  for (let at = start; at <= line.length; ) {
    const end = endOfLine(line, at)
    const text = line.slice(at, end)
    if ((tabs ? text.replace(/^\t+/, '') : text) === word) return Math.min(end + 1, line.length)
    if (end === line.length) return -1
    at = end + 1
  }
  return -1
}
