import { validationError } from '@heddle/contracts'
import { isJsonObject, type Json, type JsonObject, textField } from './json.js'

/** The text of a message's content, and every block that is no text, as it was: nothing is dropped. */
export interface FlatContent {
  text: string
  blocks: Json[]
}

const TEXT_TYPES = new Set(['text', 'input_text', 'output_text'])
const KIND_CHARACTERS_MAX = 60

/**
 * Flattens a content: a text, nothing, or a list of blocks. Texts are joined by an empty line; each other block, such as
 * an image, leaves a short marker in the text and stays whole in `blocks`.
 *
 * @param place where the content stands, for errors
 * @throws PermanentError `VALIDATION_ERROR` for any other content
 */
export function flattenContent(place: string, content: Json | undefined): FlatContent {
  const texts: string[] = []
  const blocks: Json[] = []
  for (const block of blocksOf(place, content)) {
    const text = textOf(block)
    texts.push(text ?? markerOf(block))
    if (text === null) blocks.push(block)
  }
  return { text: texts.filter((text) => text !== '').join('\n\n'), blocks }
}

/**
 * The blocks of a content; a text is one block.
 *
 * @throws PermanentError `VALIDATION_ERROR` for a content that is neither a text, a list nor null
 */
export function blocksOf(place: string, content: Json | undefined): Json[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [content]
  if (Array.isArray(content)) return content
  throw validationError(place, 'content: must be a text, a list of blocks or null', content)
}

/** The blocks of a content that its text only marks, as metadata. */
export function blocksField({ blocks }: Pick<FlatContent, 'blocks'>): JsonObject {
  return blocks.length > 0 ? { blocks } : {}
}

function textOf(block: Json): string | null {
  if (typeof block === 'string') return block
  if (!isJsonObject(block)) return null
  if (block['type'] === 'refusal' && typeof block['refusal'] === 'string') return block['refusal']
  const isText = typeof block['type'] === 'string' && TEXT_TYPES.has(block['type'])
  return isText && typeof block['text'] === 'string' ? block['text'] : null
}

function markerOf(block: Json): string {
  if (!isJsonObject(block)) return '[part]'
  const kind = (textField(block, 'type') ?? 'part').slice(0, KIND_CHARACTERS_MAX)
  const media = mediaTypeOf(block)
  return media === undefined ? `[${kind}]` : `[${kind}: ${media.slice(0, KIND_CHARACTERS_MAX)}]`
}

/** Anthropic names the media type of a block; OpenAI hides it in a data URL. */
function mediaTypeOf(block: JsonObject): string | undefined {
  const { source, image_url: image } = block
  if (isJsonObject(source)) return textField(source, 'media_type')
  const url = isJsonObject(image) ? textField(image, 'url') : undefined
  return url === undefined ? undefined : /^data:([^;,]+)/.exec(url.slice(0, 200))?.[1]
}
