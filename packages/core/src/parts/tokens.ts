import type { FormatName, PartType, StoredPart } from '@heddle/contracts'
import type { ImageSize } from './image-size.js'

/*
 * What providers count for what is no text, as their pages on vision, documents and sound say it. Where a figure depends on
 * the model, or the size is not known, the higher one is taken: a budget must not be exceeded by a guess.
 */

/** What the rules look at. */
export type Countable = Pick<
  StoredPart,
  'type' | 'width' | 'height' | 'pages' | 'seconds' | 'bytes' | 'detail' | 'mediaType'
>

/** Tokens of a part where a format delivers it. The neutral form is counted by the highest rule: it may go anywhere. */
export function partTokens(part: Countable, format: FormatName): number {
  switch (part.type) {
    case 'image':
      return imageTokens(part, format)
    case 'document':
      return documentTokens(part, format)
    case 'audio':
      return audioTokens(part, format)
  }
}

/** Tokens of all parts of a message by the highest rule; 0 for none. */
export function partsTokens(parts: readonly Countable[] | undefined): number {
  return parts === undefined
    ? 0
    : parts.reduce((sum, part) => sum + Math.max(LINE_TOKENS, partTokens(part, 'neutral')), 0)
}

/** What the line costs at most that names a part where a format cannot take it. */
const LINE_TOKENS = 120

function imageTokens(part: Countable, format: FormatName): number {
  const size = part.width !== undefined && part.height !== undefined ? { width: part.width, height: part.height } : null
  const anthropic = anthropicImageTokens(size ?? ANTHROPIC_LARGEST)
  const openAi = part.detail === 'low' ? OPENAI_BASE_TOKENS : openAiImageTokens(size ?? OPENAI_LARGEST)
  if (format === 'anthropic') return anthropic
  if (format === 'openai-chat' || format === 'openai-responses') return openAi
  return Math.max(anthropic, openAiImageTokens(size ?? OPENAI_LARGEST))
}

/** Anthropic scales an image down until its longer edge has so many pixels. */
const ANTHROPIC_EDGE = 1_568
const ANTHROPIC_PIXELS_PER_TOKEN = 750
const ANTHROPIC_LARGEST: ImageSize = { width: ANTHROPIC_EDGE, height: ANTHROPIC_EDGE }

export function anthropicImageTokens(size: ImageSize): number {
  const { width, height } = scaledToEdge(size, ANTHROPIC_EDGE)
  return Math.ceil((width * height) / ANTHROPIC_PIXELS_PER_TOKEN)
}

/** What OpenAI counts for an image of which it looks at a small version only, and beside the tiles of another. */
const OPENAI_BASE_TOKENS = 85
const OPENAI_TILE_TOKENS = 170
const OPENAI_TILE = 512
const OPENAI_LONG_EDGE = 2_048
const OPENAI_SHORT_EDGE = 768
const OPENAI_PATCH = 32
const OPENAI_PATCHES_MAX = 1_536
/** The largest that its scaling leaves. */
const OPENAI_LARGEST: ImageSize = { width: OPENAI_LONG_EDGE, height: OPENAI_SHORT_EDGE }

/** By tiles or by patches, whichever is more: models differ in which they are charged by. */
export function openAiImageTokens(size: ImageSize): number {
  return Math.max(openAiTileTokens(size), openAiPatchTokens(size))
}

/** GPT-4o and its kin: within a square of 2,048, then the shorter edge at most 768, then tiles of 512. */
export function openAiTileTokens(size: ImageSize): number {
  const within = scaledToEdge(size, OPENAI_LONG_EDGE)
  const shrink = Math.min(1, OPENAI_SHORT_EDGE / Math.min(within.width, within.height))
  const tiles = Math.ceil((within.width * shrink) / OPENAI_TILE) * Math.ceil((within.height * shrink) / OPENAI_TILE)
  return OPENAI_BASE_TOKENS + OPENAI_TILE_TOKENS * tiles
}

/** GPT-4.1 and later: patches of 32 by 32 pixels, at most 1,536. */
export function openAiPatchTokens({ width, height }: ImageSize): number {
  return Math.min(OPENAI_PATCHES_MAX, Math.ceil(width / OPENAI_PATCH) * Math.ceil(height / OPENAI_PATCH))
}

function scaledToEdge({ width, height }: ImageSize, edge: number): ImageSize {
  const shrink = Math.min(1, edge / Math.max(width, height))
  return { width: width * shrink, height: height * shrink }
}

/** Providers read a page twice: as text, of which they name 3,000 tokens for a dense page, and as an image. */
const PAGE_TEXT_TOKENS = 3_000
/** Letter and A4 as images: one edge as long as it may be, the other in proportion. */
const PAGE_SIZE: ImageSize = { width: 1_212, height: 1_568 }
/** Where a document does not say its pages: fewer bytes than almost any page takes. */
const BYTES_PER_PAGE = 20_000
/** More pages than a provider takes are refused there and not counted. */
const PAGES_MAX = 600
/** Pages of a document of which nothing is known, such as an address. */
const PAGES_UNKNOWN = 10
/** Of a document that is text, in whatever script. */
const BYTES_PER_TEXT_TOKEN = 2

function documentTokens({ pages, bytes, mediaType }: Countable, format: FormatName): number {
  if (bytes !== undefined && mediaType?.startsWith('text/')) return Math.ceil(bytes / BYTES_PER_TEXT_TOKEN)
  const guessed = bytes === undefined ? PAGES_UNKNOWN : Math.ceil(bytes / BYTES_PER_PAGE)
  const counted = Math.min(PAGES_MAX, pages ?? Math.max(1, guessed))
  return counted * (PAGE_TEXT_TOKENS + imageTokens({ type: 'image', ...PAGE_SIZE }, format))
}

/** OpenAI counts ten tokens a second, Google 32. */
const OPENAI_TOKENS_PER_SECOND = 10
const TOKENS_PER_SECOND_MAX = 32
/** Speech is seldom compressed to less: 32 kbit/s. */
const BYTES_PER_SECOND_MIN = 4_000
/** Of a sound of which nothing is known, such as an address. */
const SECONDS_UNKNOWN = 600

function audioTokens({ seconds, bytes }: Countable, format: FormatName): number {
  const lasting = seconds ?? (bytes === undefined ? SECONDS_UNKNOWN : bytes / BYTES_PER_SECOND_MIN)
  const isOpenAi = format === 'openai-chat' || format === 'openai-responses'
  return Math.ceil(lasting * (isOpenAi ? OPENAI_TOKENS_PER_SECOND : TOKENS_PER_SECOND_MAX))
}

/** Tokens of a part of which nothing but its kind is known. */
export function unknownPartTokens(type: PartType, format: FormatName): number {
  return partTokens({ type }, format)
}
