import { visible } from '../data/text.js'
import { highlight } from './highlight.js'

/** A text with the terms of a search marked. */
export function Highlighted({ text, matcher }: { text: string; matcher: RegExp | null }) {
  return highlight(text, matcher).map(({ text: piece, isTerm }, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have no other identity.
    return isTerm ? <mark key={index}>{visible(piece)}</mark> : visible(piece)
  })
}
