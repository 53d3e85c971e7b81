import type { InjectedMessage } from './labels.js'

/** A line repeats a message if this share of its words are the message's. */
const SHARE_MIN = 0.8
/** A summary mentions a message if it has this share of the words of its beginning. */
const TOLD_SHARE_MIN = 0.7
const TOLD_WORDS_MAX = 25

export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? []
}

/** The first line of a section, without marks and references; empty without a line. */
export function firstLineOf(summary: string, heading: string): string {
  const line = linesOf(summary, heading)[0] ?? ''
  return line.replace(/\[recall:[^\]]*\]/g, '').replace(/^- /, '')
}

export function linesOf(summary: string, heading: string): string[] {
  const block = summary.split('\n\n').find((each) => each.startsWith(`## ${heading}\n`))
  return block === undefined ? [] : block.split('\n').slice(1)
}

/** Whether a line is taken from a message. */
export function saysWhat(line: string, message: string): boolean {
  const words = wordsOf(line)
  const said = new Set(wordsOf(message))
  return words.length > 0 && words.filter((word) => said.has(word)).length >= SHARE_MIN * words.length
}

/** Whether some lines mention the beginning of a message. */
export function areTold(lines: readonly string[], message: string): boolean {
  const told = new Set(lines.flatMap(wordsOf))
  const words = [...new Set(wordsOf(message))].slice(0, TOLD_WORDS_MAX)
  return words.filter((word) => told.has(word)).length >= TOLD_SHARE_MIN * words.length
}

export interface InjectedCounts {
  /** Lines that the summary classifies as injected, and those of them that are. */
  readonly taken: number
  readonly right: number
  /** Lines that no person wrote. */
  readonly injected: number
}

/** Compares the remaining lines of a user's message with those that a person wrote. */
export function countInjected(text: string, left: string, label: InjectedMessage | undefined): InjectedCounts {
  let [taken, right, injected] = [0, 0, 0]
  const kept = new Set(left.split('\n').map((line) => line.trim()))
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const { said } = label ?? {}
    const isInjected = label !== undefined && !(said && index + 1 >= said[0] && index + 1 <= said[1])
    const isTaken = !kept.has(line.trim())
    if (isInjected) injected++
    if (isTaken) taken++
    if (isTaken && isInjected) right++
  }
  return { taken, right, injected }
}
