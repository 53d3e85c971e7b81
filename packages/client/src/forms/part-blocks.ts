import { type MessagePartInput, messagePartSchema } from '@heddle/contracts'
import { isJsonObject, type Json, type JsonObject, textField } from './json.js'

/*
 * One function per provider: converts a block of its format to the image, document or audio part that it is; null for
 * any other block, and for one with unreadable bytes, which session readers keep unchanged.
 */

/** Anthropic: `image` and `document` with a source. A text document is not a part. */
export function anthropicPart(block: JsonObject): MessagePartInput | null {
  const { type, source } = block
  if ((type !== 'image' && type !== 'document') || !isJsonObject(source)) return null
  const name = textField(block, 'title')
  const named = name === undefined ? {} : { name }
  if (source['type'] === 'base64')
    return checked({ type, mediaType: source['media_type'], data: source['data'], ...named })
  if (source['type'] === 'url') return checked({ type, url: source['url'], ...named })
  return source['type'] === 'file' ? checked({ type, fileId: source['file_id'], ...named }) : null
}

/** OpenAI's chat completions: `image_url`, `input_audio`, `file`; its Responses API: `input_image`, `input_file`. */
export function openAiPart(block: JsonObject): MessagePartInput | null {
  const { type, image_url: image, input_audio: audio, file } = block
  switch (type) {
    case 'image_url':
      return isJsonObject(image) ? checked({ type: 'image', ...addressed(image['url']), ...detailOf(image) }) : null
    case 'input_image':
      return checked({ type: 'image', ...addressed(image), ...fileIdOf(block), ...detailOf(block) })
    case 'input_audio':
      if (!isJsonObject(audio)) return null
      return checked({
        type: 'audio',
        mediaType: audio['format'] === 'mp3' ? 'audio/mpeg' : 'audio/wav',
        data: audio['data'],
      })
    case 'file':
      return isJsonObject(file) ? openAiFile(file) : null
    case 'input_file':
      return openAiFile(block)
    default:
      return null
  }
}

/** The AI SDK: `image`, `file`, and `media` in a tool's output. */
export function aiSdkPart(block: JsonObject): MessagePartInput | null {
  const { type, image, data } = block
  const mediaType = textField(block, 'mediaType')
  const given = type === 'image' ? image : type === 'file' || type === 'media' ? data : undefined
  if (given === undefined) return null
  const name = textField(block, 'filename')
  const isAddress = typeof given === 'string' && /^(?:data|https?):/.test(given)
  const source = isAddress ? addressed(given) : { data: given }
  const media =
    mediaType === undefined ? (type === 'image' && !isAddress ? { mediaType: imageTypeOf(given) } : {}) : { mediaType }
  return checked({
    type: type === 'image' ? 'image' : kindOf(mediaType ?? ''),
    ...media,
    ...source,
    ...(name !== undefined && { name }),
  })
}

function openAiFile(file: JsonObject): MessagePartInput | null {
  const name = textField(file, 'filename')
  const url = textField(file, 'file_url')
  return checked({
    type: 'document',
    ...addressed(file['file_data']),
    ...(url !== undefined && { url }),
    ...fileIdOf(file),
    ...(name !== undefined && { name }),
  })
}

function kindOf(mediaType: string): MessagePartInput['type'] {
  const [kind] = mediaType.split('/')
  return kind === 'image' || kind === 'audio' ? kind : 'document'
}

function fileIdOf(block: JsonObject): { fileId?: string } {
  const fileId = textField(block, 'file_id')
  return fileId === undefined ? {} : { fileId }
}

function detailOf({ detail }: JsonObject): { detail?: Json } {
  return detail === 'low' || detail === 'high' || detail === 'auto' || detail === 'original' ? { detail } : {}
}

const DATA_URL = /^data:([^;,]{1,200})(?:;[^;,]{1,100}){0,4};base64,/

/** A URL, or the bytes in a data URL. */
function addressed(url: Json | undefined): { url?: string; mediaType?: string; data?: string } {
  if (typeof url !== 'string') return {}
  if (!url.startsWith('data:')) return { url }
  const [before, mediaType = ''] = DATA_URL.exec(url.slice(0, 700)) ?? []
  return before === undefined ? {} : { mediaType: mediaType.toLowerCase(), data: url.slice(before.length) }
}

function checked(given: unknown): MessagePartInput | null {
  const result = messagePartSchema.safeParse(given)
  return result.success ? result.data : null
}

/** First bytes of image types, in base64, for images without a media type. */
const IMAGE_BEGINNINGS = { '/9j/': 'image/jpeg', R0lG: 'image/gif', UklG: 'image/webp' }

function imageTypeOf(data: Json | undefined): string {
  const found = Object.entries(IMAGE_BEGINNINGS).find(([start]) => typeof data === 'string' && data.startsWith(start))
  return found?.[1] ?? 'image/png'
}
