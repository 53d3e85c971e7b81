import { fingerprint } from '../conversation/fingerprint.js'
import type { Message } from '../conversation/message.js'
import { turnEndScan } from '../conversation/turns.js'

/*
 * A summary of a long range is made in parts, so that messages summarized once need not be read again. The parts are
 * the leaves of a tree. The end of a leaf depends only on the messages from its own beginning, and often on the id of
 * its last message: a late message changes the leaf that it belongs to and perhaps a few after it, and after those the
 * cuts are the same as before.
 */

/** How a tree is cut. */
export interface TreeShape {
  /** A leaf ends with the turn that brings it to this many tokens, as {@link readTokens} counts them. */
  readonly leafTokens: number
  /** Maximum number of parts that one summary combines. */
  readonly fanOut: number
}

/**
 * Past half of its size a leaf ends early about once per this share of `leafTokens`, whatever the sizes of its messages.
 */
const EARLY_CUT_SHARE = 0.25
/** A turn longer than this many leaves is cut within. */
const LEAF_SIZES_MAX = 4
/** Characters of one message in a summarizer's input; see `summarySources`. */
const READ_CHARACTERS_MAX = 8_000
const MESSAGE_TOKENS = 8
const CHARACTERS_PER_TOKEN = 4

/**
 * Tokens of a message in a summarizer's input: estimated by characters, so that the result does not depend on a
 * counter.
 */
export function readTokens(message: Message): number {
  const calls = message.toolCalls.reduce((sum, call) => sum + call.name.length + argumentCharacters(call.arguments), 0)
  const characters = Math.min(READ_CHARACTERS_MAX, message.content.length + calls)
  return MESSAGE_TOKENS + Math.ceil(characters / CHARACTERS_PER_TOKEN)
}

function argumentCharacters(given: unknown): number {
  return Math.min(400, (typeof given === 'string' ? given : (JSON.stringify(given) ?? '')).length)
}

/**
 * Number of messages in the next leaf; null if they do not fill one yet.
 *
 * @param messages covered ones in conversation order
 * @param from the end of the previous leaf
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

/** A pseudo-random number in [0, 1) that is always the same for a text. */
export function chance(text: string): number {
  return Number.parseInt(fingerprint(text).slice(0, 4), 16) / 65_536
}

/** Splits covered messages into leaves and a rest that does not fill one yet. */
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

/** The length of a part's summary: as many as one summary combines are as long as one leaf. */
export function partTokensMax({ leafTokens, fanOut }: TreeShape): number {
  return Math.max(100, Math.floor(leafTokens / fanOut))
}

/** A hash of a leaf's input: its messages, in order, and the length of its summary. */
export function leafHash(messages: readonly Message[], shape: TreeShape): string {
  const said = messages.map(({ id, role, content, toolCalls, isError }) => [id, role, content, toolCalls, isError])
  return fingerprint(JSON.stringify([partTokensMax(shape), said]))
}
