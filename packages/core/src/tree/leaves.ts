import { fingerprint } from '../conversation/fingerprint.js'
import type { Message } from '../conversation/message.js'
import { turnEndScan } from '../conversation/turns.js'

/*
 * A summary of a long range is made in parts, so that what was summarized once need not be read again. The parts are the
 * leaves of a tree. Where a leaf ends depends on the messages from its own beginning alone, and often on the id of
 * its last message: one that comes late changes the leaf that it falls into and perhaps a few after it, and then the
 * cuts fall where they fell before.
 */

/** How a tree is cut. */
export interface TreeShape {
  /** A leaf ends with the turn that brings it to this many tokens, as {@link readTokens} counts them. */
  readonly leafTokens: number
  /** Parts that one summary puts together, at most. */
  readonly fanOut: number
}

/** Past half of its size a leaf ends early about once in this share of its size, whatever the sizes of its messages. */
const EARLY_CUT_SHARE = 0.25
/** A turn that is longer than so many leaves is cut within. */
const LEAF_SIZES_MAX = 4
/** Characters that a summarizer is shown of one message; see `summarySources`. */
const READ_CHARACTERS_MAX = 8_000
const MESSAGE_TOKENS = 8
const CHARACTERS_PER_TOKEN = 4

/** What a summarizer reads of a message, in tokens: by its characters, so that it is the same whatever counted it. */
export function readTokens(message: Message): number {
  const calls = message.toolCalls.reduce((sum, call) => sum + call.name.length + argumentCharacters(call.arguments), 0)
  const characters = Math.min(READ_CHARACTERS_MAX, message.content.length + calls)
  return MESSAGE_TOKENS + Math.ceil(characters / CHARACTERS_PER_TOKEN)
}

function argumentCharacters(given: unknown): number {
  return Math.min(400, (typeof given === 'string' ? given : (JSON.stringify(given) ?? '')).length)
}

/**
 * How many of some messages are the next leaf; null where they do not fill one yet.
 *
 * @param messages covered ones in conversation order
 * @param from the end of the leaf before
 */
export function leafLength(messages: readonly Message[], { leafTokens }: TreeShape, from = 0): number | null {
  const endsTurn = turnEndScan()
  let tokens = 0
  for (let at = 0; from + at < messages.length; at++) {
    const message = messages[from + at] as Message
    const read = readTokens(message)
    tokens += read
    const isEnd = endsTurn(message, at)
    const isEarly = tokens >= leafTokens / 2 && chance(message.id) < read / (leafTokens * EARLY_CUT_SHARE)
    const mayEnd = isEnd && (tokens >= leafTokens || isEarly)
    if (mayEnd || tokens >= leafTokens * LEAF_SIZES_MAX) return at + 1
  }
  return null
}

/** A number from 0 to 1, without 1, that is always the same for a text. */
export function chance(text: string): number {
  return Number.parseInt(fingerprint(text).slice(0, 4), 16) / 65_536
}

/** Splits covered messages into leaves and what does not fill one yet. */
export function cutLeaves(
  messages: readonly Message[],
  shape: TreeShape,
): { leaves: Message[][]; open: readonly Message[] } {
  const leaves: Message[][] = []
  for (let from = 0; ; ) {
    const length = leafLength(messages, shape, from)
    if (length === null) return { leaves, open: messages.slice(from) }
    leaves.push(messages.slice(from, from + length))
    from += length
  }
}

/** The length of a part's summary: as many of them as one summary puts together are read like one leaf. */
export function partTokensMax({ leafTokens, fanOut }: TreeShape): number {
  return Math.max(100, Math.floor(leafTokens / fanOut))
}

/** A hash of what a leaf says: of its messages, in their order, and of how long its summary may be. */
export function leafHash(messages: readonly Message[], shape: TreeShape): string {
  const said = messages.map(({ id, role, content, toolCalls, isError }) => [id, role, content, toolCalls, isError])
  return fingerprint(JSON.stringify([partTokensMax(shape), said]))
}
