import type { Message } from '../conversation/message.js'
import type { NeutralMessage } from '../formats/neutral-message.js'
import type { Line } from './line.js'

/** The last line of each message that is the first source of one. */
const lines = new WeakMap<Message, Line>()

/**
 * The line that the previous context of the thread had for the same messages, if it is equal to this one. The contexts of a
 * growing thread then share their lines and all that is derived from a line alone, such as its form in a provider's format.
 */
export function sharedLine(line: Line): Line {
  const first = line.sources[0]?.message
  if (first === undefined) return line
  const known = lines.get(first)
  if (known !== undefined && isEqual(known, line)) return known
  lines.set(first, line)
  return line
}

function isEqual(one: Line, other: Line): boolean {
  return areEqual(one.sources, other.sources, isSameSource) && isSameMessage(one.neutral, other.neutral)
}

type Source = Line['sources'][number]

function isSameSource(one: Source, other: Source): boolean {
  return (
    one.message === other.message &&
    one.asText === other.asText &&
    one.fate.mode === other.fate.mode &&
    one.fate.reason === other.fate.reason &&
    one.fate.content === other.fate.content
  )
}

/** Messages with parts are never the same: their parts are made anew for each context. */
function isSameMessage(one: NeutralMessage, other: NeutralMessage): boolean {
  return (
    one.parts === undefined &&
    other.parts === undefined &&
    one.role === other.role &&
    one.content === other.content &&
    one.toolCallId === other.toolCallId &&
    one.toolName === other.toolName &&
    one.isError === other.isError &&
    areEqual(one.thinking, other.thinking, (left, right) => left === right) &&
    areEqual(
      one.toolCalls,
      other.toolCalls,
      (left, right) => left.id === right.id && left.name === right.name && left.arguments === right.arguments,
    )
  )
}

function areEqual<Item>(
  one: readonly Item[] | undefined,
  other: readonly Item[] | undefined,
  isSame: (left: Item, right: Item) => boolean,
): boolean {
  if (one === undefined || other === undefined) return one === other
  return one.length === other.length && one.every((item, index) => isSame(item, other[index] as Item))
}
