import {
  CARRIAGE_RETURN,
  isCloser,
  isHighSurrogate,
  isLineBreak,
  isLowSurrogate,
  isSentenceEnd,
  isSpace,
  isWideEnd,
  LINE_FEED,
} from './characters.js'
import { tokenWeights } from './token-weights.js'

/** A range of a text: `text` is `source.slice(from, to)`, so it need not be stored beside the source. */
export interface Chunk {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** About 500 characters a chunk (docs/embedding.md#what-is-embedded-and-when). */
export const CHUNK_CHARACTERS_MAX = 500

/** MiniLM is trained on 256 tokens, two of which open and close every text; the rest is a margin for estimates. */
export const CHUNK_TOKENS_MAX = 240

/**
 * Cuts a text into pieces to embed (docs/embedding.md): whole paragraphs, a paragraph over 500 characters by its
 * sentences and lines, and adjacent pieces joined again up to 500 characters. A sentence that is too long is cut at
 * white space, or anywhere in a text without any. Everything except white space is in exactly one chunk. Takes linear
 * time.
 *
 * Word-piece models read at most 256 tokens and silently ignore the rest. Their vocabulary is not known here, so chunks
 * are limited by {@link tokenWeights}: dense text such as hashes, base64 or Chinese gives shorter chunks than prose.
 */
export function chunkText(text: string): Chunk[] {
  const weights = tokenWeights(text)
  const chunks: Chunk[] = []
  let open: Piece | null = null
  const close = (piece: Piece) => {
    chunks.push({ from: piece.from, to: piece.to, text: text.slice(piece.from, piece.to) })
  }
  for (const piece of pieces(text, weights)) {
    if (open !== null && piece.to - open.from <= CHUNK_CHARACTERS_MAX && open.weight + piece.weight <= WEIGHT_MAX) {
      open = { from: open.from, to: piece.to, weight: open.weight + piece.weight }
      continue
    }
    if (open !== null) close(open)
    open = piece
  }
  if (open !== null) close(open)
  return chunks
}

interface Range {
  readonly from: number
  readonly to: number
}

/** A range that fits a chunk, with the sum of its token weights. */
interface Piece extends Range {
  readonly weight: number
}

function* pieces(text: string, weights: Uint8Array): Generator<Piece> {
  for (const paragraph of paragraphs(text)) {
    const whole = asPiece(paragraph, weights)
    if (whole !== null) {
      yield whole
      continue
    }
    for (const sentence of sentences(text, paragraph)) {
      const piece = asPiece(sentence, weights)
      if (piece !== null) yield piece
      else yield* hardPieces(text, sentence, weights)
    }
  }
}

/** The range with its weight, or null if it does not fit a chunk. */
function asPiece({ from, to }: Range, weights: Uint8Array): Piece | null {
  if (to - from > CHUNK_CHARACTERS_MAX) return null
  let weight = 0
  for (let at = from; at < to; at++) weight += weights[at] ?? 0
  return weight <= WEIGHT_MAX ? { from, to, weight } : null
}

/** The parts of the text between blank lines. */
function* paragraphs(text: string): Generator<Range> {
  let from = -1
  let to = 0
  let lineBreaks = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isSpace(code)) {
      if (isLineBreak(code) && !(code === LINE_FEED && text.charCodeAt(at - 1) === CARRIAGE_RETURN)) lineBreaks++
      continue
    }
    if (from >= 0 && lineBreaks >= 2) {
      yield { from, to }
      from = at
    }
    if (from < 0) from = at
    lineBreaks = 0
    to = at + 1
  }
  if (from >= 0) yield { from, to }
}

/** Sentences and lines of a paragraph: lines too, because lists, code and logs have no full stops. */
function* sentences(text: string, paragraph: Range): Generator<Range> {
  let from = paragraph.from
  let to = from
  /** Whether a sentence ended after the last word: it counts only if white space follows, or the full stop is wide. */
  let ended = false
  let lineBroke = false
  for (let at = paragraph.from; at < paragraph.to; at++) {
    const code = text.charCodeAt(at)
    if (isSpace(code)) {
      if (isLineBreak(code)) lineBroke = true
      continue
    }
    const afterSpace = at > to
    if (to > from && (lineBroke || (ended && afterSpace) || endsWideSentence(text, to, code))) {
      yield { from, to }
      from = at
      ended = false
    }
    lineBroke = false
    ended = isSentenceEnd(code) || (ended && isCloser(code))
    to = at + 1
  }
  if (to > from) yield { from, to }
}

/** Cuts a range into the largest possible pieces: at white space, or anywhere without white space. */
function* hardPieces(text: string, range: Range, weights: Uint8Array): Generator<Piece> {
  let from = range.from
  while (from < range.to) {
    let at = from
    let weight = 0
    let lastSpace = -1
    let weightAtSpace = 0
    while (at < range.to && at - from < CHUNK_CHARACTERS_MAX && weight + (weights[at] ?? 0) <= WEIGHT_MAX) {
      if (at > from && isSpace(text.charCodeAt(at)) && !isSpace(text.charCodeAt(at - 1))) {
        lastSpace = at
        weightAtSpace = weight
      }
      weight += weights[at] ?? 0
      at++
    }
    if (at < range.to && lastSpace > 0 && !isSpace(text.charCodeAt(at))) {
      at = lastSpace
      weight = weightAtSpace
    } else if (at < range.to && isLowSurrogate(text.charCodeAt(at)) && isHighSurrogate(text.charCodeAt(at - 1))) {
      at--
      weight -= weights[at] ?? 0
    }
    let to = at
    while (to > from && isSpace(text.charCodeAt(to - 1))) to--
    yield { from, to, weight }
    from = at
    while (from < range.to && isSpace(text.charCodeAt(from))) from++
  }
}

/** Weights are in half tokens, so that they are integers. */
const WEIGHT_MAX = CHUNK_TOKENS_MAX * 2

/**
 * Chinese and Japanese have no space after a full stop; a run of full stops, or a closing quote, belongs to the
 * sentence.
 */
function endsWideSentence(text: string, to: number, next: number): boolean {
  return isWideEnd(text.charCodeAt(to - 1)) && !isWideEnd(next) && next !== 0x300d && next !== 0x300f && !isCloser(next)
}
