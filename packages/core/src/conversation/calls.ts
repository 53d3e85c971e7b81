import type { ToolCall } from '@heddle/contracts'

/** A call whose input a compaction replaced by a line; the input can be recalled. */
export interface CondensedCall {
  /** Its number in its message, from 1. */
  readonly number: number
  /** The line, which ends in the reference of the call: `✏️ Edited src/a.ts [recall:msg-xxxxxxxx:tool-1]`. */
  readonly text: string
  /** The tokens by which the line is shorter than the input. */
  readonly freedTokens: number
}

/** Shorter inputs are kept: their line would not be shorter. */
const ARGUMENT_CHARACTERS_KEPT_MAX = 200

/** Whether the input of a call is long enough to be left out. */
export function isElidable(call: ToolCall): boolean {
  const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
  return text.length > ARGUMENT_CHARACTERS_KEPT_MAX
}

/**
 * Replaces the input of a call; an object, as providers require, with a name that no tool has: a model that repeats it makes
 * an invalid call, not a file with this text.
 */
export function elidedInput(text: string): Record<string, string> {
  return { elided: text }
}

/** The calls of a message, the condensed ones with the line that replaces their input. */
export function withCondensedCalls(
  calls: readonly ToolCall[],
  condensed: readonly Pick<CondensedCall, 'number' | 'text'>[],
): ToolCall[] {
  const texts = new Map(condensed.map(({ number, text }) => [number, text]))
  return calls.map((call, index) => {
    const text = texts.get(index + 1)
    return text === undefined ? call : { ...call, arguments: elidedInput(text) }
  })
}
