import { limits, type MessagePartInput, partBytes, validationError } from '@heddle/contracts'
import { isJsonObject, type Json, type JsonObject, textField } from './json.js'
import { aiSdkPart, anthropicPart, openAiPart } from './part-blocks.js'

/**
 * The text of a message's content, its images, documents and sounds, and every other block unchanged: nothing is
 * dropped.
 */
export interface FlatContent {
  text: string
  /** Each with its position in the text. */
  parts: MessagePartInput[]
  blocks: Json[]
}

const TEXT_TYPES = new Set(['text', 'input_text', 'output_text'])
const KIND_CHARACTERS_MAX = 60
const TITLE_CHARACTERS_MAX = 500

/**
 * Flattens a content: a text, null, or a list of blocks. Texts are joined by an empty line; images, documents and
 * sounds become parts; each other block leaves a short marker in the text and is kept whole in `blocks`.
 *
 * @param place path of the content, for errors
 * @throws PermanentError `VALIDATION_ERROR` for any other content
 */
export function flattenContent(place: string, content: Json | undefined): FlatContent {
  const parts: MessagePartInput[] = []
  const blocks: Json[] = []
  let text = ''
  let room: number = limits.messagePartBytesMax
  for (const block of blocksOf(place, content)) {
    const part = partOf(block)
    if (part !== null && parts.length < limits.partsPerMessageMax && partBytes(part) <= room) {
      room -= partBytes(part)
      parts.push({ ...part, offset: text.length })
      continue
    }
    const said = textOf(block)
    if (said === null) blocks.push(block)
    const added = said ?? markerOf(block)
    if (added !== '') text = text === '' ? added : `${text}\n\n${added}`
  }
  return { text, parts, blocks }
}

/** The part in a block of any provider's format, since these do not overlap; null for other blocks. */
function partOf(block: Json): MessagePartInput | null {
  if (!isJsonObject(block)) return null
  return anthropicPart(block) ?? openAiPart(block) ?? aiSdkPart(block)
}

/** The parts of a content as a message's field; an empty object without parts. */
export function partsField({ parts }: Pick<FlatContent, 'parts'>): { parts?: MessagePartInput[] } {
  return parts.length > 0 ? { parts } : {}
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

/** The blocks that are only markers in the text, as metadata. */
export function blocksField({ blocks }: Pick<FlatContent, 'blocks'>): JsonObject {
  return blocks.length > 0 ? { blocks } : {}
}

function textOf(block: Json): string | null {
  if (typeof block === 'string') return block
  if (!isJsonObject(block)) return null
  if (block['type'] === 'refusal' && typeof block['refusal'] === 'string') return block['refusal']
  const isText = typeof block['type'] === 'string' && TEXT_TYPES.has(block['type'])
  return isText && typeof block['text'] === 'string' ? block['text'] : quotedText(block)
}

/** The text of Anthropic's text documents and search results, under their titles. */
function quotedText(block: JsonObject): string | null {
  const words = block['type'] === 'search_result' ? textsOf(block['content']) : documentText(block)
  if (words === null) return null
  const origin = typeof block['source'] === 'string' ? block['source'] : undefined
  const title = [textField(block, 'title'), origin, textField(block, 'context')].filter((part) => part !== undefined)
  return `[${[`${block['type']}`, ...title].join(': ').slice(0, TITLE_CHARACTERS_MAX)}]\n${words}`
}

function documentText({ type, source }: JsonObject): string | null {
  if (type !== 'document' || !isJsonObject(source)) return null
  if (source['type'] === 'text') return textField(source, 'data') ?? null
  return source['type'] === 'content' ? textsOf(source['content']) : null
}

/** Null if there is a block other than text: then the outer block is kept whole. */
function textsOf(content: Json | undefined): string | null {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return null
  const texts = content.map(textOf)
  return texts.includes(null) ? null : texts.join('\n\n')
}

function markerOf(block: Json): string {
  if (!isJsonObject(block)) return '[part]'
  const kind = (textField(block, 'type') ?? 'part').slice(0, KIND_CHARACTERS_MAX)
  const media = mediaTypeOf(block)
  return media === undefined ? `[${kind}]` : `[${kind}: ${media.slice(0, KIND_CHARACTERS_MAX)}]`
}

/** Anthropic names the media type of a block; in OpenAI's format it is in the data URL. */
function mediaTypeOf(block: JsonObject): string | undefined {
  const { source, image_url: image } = block
  if (isJsonObject(source)) return textField(source, 'media_type')
  const url = isJsonObject(image) ? textField(image, 'url') : undefined
  return url === undefined ? undefined : /^data:([^;,]+)/.exec(url.slice(0, 200))?.[1]
}
