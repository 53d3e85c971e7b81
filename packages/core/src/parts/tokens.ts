import type { FormatName, PartType, StoredPart } from '@heddle/contracts'
import type { ImageSize } from './image-size.js'

/*
 * Token counts of parts, from the providers' pages on vision, documents and audio. If a figure depends on the model, or
 * the size is unknown, the higher one is used, so that an estimate never exceeds the budget.
 */

/** The fields of a part that the rules read. */
export type Countable = Pick<
  StoredPart,
  'type' | 'width' | 'height' | 'pages' | 'seconds' | 'bytes' | 'detail' | 'mediaType'
>

/**
 * Tokens of a part in a format that delivers it. The neutral format uses the most expensive rule, since it may be sent
 * to any provider.
 */
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

/** Tokens of all parts of a message by the most expensive rule; 0 without parts. */
export function partsTokens(parts: readonly Countable[] | undefined): number {
  return parts === undefined
    ? 0
    : parts.reduce((sum, part) => sum + Math.max(LINE_TOKENS, partTokens(part, 'neutral')), 0)
}

/** Maximum tokens of the line that names a part in a format that cannot carry it. */
const LINE_TOKENS = 120

function imageTokens(part: Countable, format: FormatName): number {
  const size = part.width !== undefined && part.height !== undefined ? { width: part.width, height: part.height } : null
  const anthropic = anthropicImageTokens(size ?? ANTHROPIC_LARGEST)
  const openAi = part.detail === 'low' ? OPENAI_BASE_TOKENS : openAiImageTokens(size ?? OPENAI_LARGEST)
  if (format === 'anthropic') return anthropic
  if (format === 'openai-chat' || format === 'openai-responses') return openAi
  return Math.max(anthropic, openAiImageTokens(size ?? OPENAI_LARGEST))
}

/** Anthropic scales an image down until its longer edge has this many pixels. */
const ANTHROPIC_EDGE = 1_568
const ANTHROPIC_PIXELS_PER_TOKEN = 750
const ANTHROPIC_LARGEST: ImageSize = { width: ANTHROPIC_EDGE, height: ANTHROPIC_EDGE }

export function anthropicImageTokens(size: ImageSize): number {
  const { width, height } = scaledToEdge(size, ANTHROPIC_EDGE)
  return Math.ceil((width * height) / ANTHROPIC_PIXELS_PER_TOKEN)
}

/** OpenAI's price of an image at low detail, added to the tiles at high detail. */
const OPENAI_BASE_TOKENS = 85
const OPENAI_TILE_TOKENS = 170
const OPENAI_TILE = 512
const OPENAI_LONG_EDGE = 2_048
const OPENAI_SHORT_EDGE = 768
const OPENAI_PATCH = 32
const OPENAI_PATCHES_MAX = 1_536
/** The largest size after OpenAI's scaling. */
const OPENAI_LARGEST: ImageSize = { width: OPENAI_LONG_EDGE, height: OPENAI_SHORT_EDGE }

/** By tiles or by patches, whichever is more, because models differ in which they charge. */
export function openAiImageTokens(size: ImageSize): number {
  return Math.max(openAiTileTokens(size), openAiPatchTokens(size))
}

/**
 * GPT-4o and related models: scaled into a square of 2,048, then the shorter edge to at most 768, then tiles of 512.
 */
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

/** Providers process a page twice: as text, for which they quote 3,000 tokens for a dense page, and as an image. */
const PAGE_TEXT_TOKENS = 3_000
/** US letter and A4 as images: one edge at the maximum, the other in proportion. */
const PAGE_SIZE: ImageSize = { width: 1_212, height: 1_568 }
/** For a document of unknown page count: fewer bytes than almost any page takes. */
const BYTES_PER_PAGE = 20_000
/** Documents with more pages are refused by providers. */
const PAGES_MAX = 600
/** Assumed pages of a document of unknown size, such as a URL. */
const PAGES_UNKNOWN = 10
/** For text documents, in any script. */
const BYTES_PER_TEXT_TOKEN = 2

function documentTokens({ pages, bytes, mediaType }: Countable, format: FormatName): number {
  if (bytes !== undefined && mediaType?.startsWith('text/')) return Math.ceil(bytes / BYTES_PER_TEXT_TOKEN)
  const guessed = bytes === undefined ? PAGES_UNKNOWN : Math.ceil(bytes / BYTES_PER_PAGE)
  const counted = Math.min(PAGES_MAX, pages ?? Math.max(1, guessed))
  return counted * (PAGE_TEXT_TOKENS + imageTokens({ type: 'image', ...PAGE_SIZE }, format))
}

/** OpenAI charges ten tokens per second, Google 32. */
const OPENAI_TOKENS_PER_SECOND = 10
const TOKENS_PER_SECOND_MAX = 32
/** Speech is seldom compressed further than 32 kbit/s. */
const BYTES_PER_SECOND_MIN = 4_000
/** Assumed seconds of audio of unknown length, such as a URL. */
const SECONDS_UNKNOWN = 600

function audioTokens({ seconds, bytes }: Countable, format: FormatName): number {
  const lasting = seconds ?? (bytes === undefined ? SECONDS_UNKNOWN : bytes / BYTES_PER_SECOND_MIN)
  const isOpenAi = format === 'openai-chat' || format === 'openai-responses'
  return Math.ceil(lasting * (isOpenAi ? OPENAI_TOKENS_PER_SECOND : TOKENS_PER_SECOND_MAX))
}

/** Tokens of a part of which only the kind is known. */
export function unknownPartTokens(type: PartType, format: FormatName): number {
  return partTokens({ type }, format)
}
