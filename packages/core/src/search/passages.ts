import { isHighSurrogate, isLowSurrogate } from '../tokens/characters.js'

/** About 60 words. */
const PASSAGE_CHARACTERS = 360
/** A passage ends at the last line or sentence that ends in this part of it. */
const PASSAGE_CHARACTERS_LEAST = 270
const PASSAGE_CHARACTERS_MAX = 450

/** Passages of one message that are told apart; the last one has all the rest. */
export const PASSAGES_MAX = 4_096

/**
 * Cuts the texts of a message into passages, which are scored one by one: a long message is found by the part that is
 * about the query. Short texts share a passage.
 */
export class PassageCutter {
  /** The passage of the last piece, counted from 0. */
  number = 0
  #filled = 0;

  /** The pieces of the message's next text, each in one passage. */
  *cut(text: string): Generator<string> {
    for (let from = 0; from < text.length; ) {
      const to = endOf(text, from)
      const length = to - from
      if (this.#filled > 0 && this.#filled + length > PASSAGE_CHARACTERS_MAX) {
        this.number = Math.min(this.number + 1, PASSAGES_MAX - 1)
        this.#filled = 0
      }
      this.#filled += length
      yield text.slice(from, to)
      from = to
    }
  }
}

function endOf(text: string, from: number): number {
  if (text.length - from <= PASSAGE_CHARACTERS_MAX) return text.length
  const least = from + PASSAGE_CHARACTERS_LEAST
  const part = text.slice(least, from + PASSAGE_CHARACTERS_MAX)
  for (const end of ['\n', '. ', '? ', '! ']) {
    const at = part.lastIndexOf(end)
    if (at >= 0) return least + at + end.length
  }
  const space = text.slice(least, from + PASSAGE_CHARACTERS).lastIndexOf(' ')
  if (space >= 0) return least + space + 1
  const to = from + PASSAGE_CHARACTERS
  return isLowSurrogate(text.charCodeAt(to)) && isHighSurrogate(text.charCodeAt(to - 1)) ? to - 1 : to
}
