/**
 * The images, documents and audio that providers accept, by their API references: the allowed places of each kind of part,
 * and the encoding of its bytes. Written from those alone.
 */
type Part = Record<string, unknown>

const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/
const HTTPS = /^https?:\/\/\S+$/

/** Base64 that decodes to at least a byte and is the same when it is encoded again. */
export function isBase64(value: unknown): boolean {
  if (typeof value !== 'string' || value === '') return false
  const bytes = Buffer.from(value, 'base64')
  return bytes.length > 0 && bytes.toString('base64').length === value.length && !/[^A-Za-z0-9+/=]/.test(value)
}

function isDataUrl(value: unknown, mediaType: RegExp): boolean {
  const [, type = '', data] = typeof value === 'string' ? (/^data:([^;,]+);base64,(.*)$/s.exec(value) ?? []) : []
  return mediaType.test(type) && isBase64(data)
}

const isUrl = (value: unknown) => typeof value === 'string' && HTTPS.test(value)
const isText = (value: unknown) => typeof value === 'string' && value !== ''
const fieldsOf = (value: unknown): Part => (typeof value === 'object' && value !== null ? (value as Part) : {})

/** Whether a value is a list, and `isPart` accepts each of its entries. */
export function areParts(content: unknown, isPart: (part: Part) => boolean): boolean {
  return Array.isArray(content) && content.length > 0 && content.every((part) => isPart(fieldsOf(part)))
}

export function isOpenAiChatPart({ type, text, image_url: image, input_audio: audio, file }: Part): boolean {
  if (type === 'text') return isText(text)
  if (type === 'image_url') return isUrl(fieldsOf(image)['url']) || isDataUrl(fieldsOf(image)['url'], IMAGE)
  if (type === 'input_audio') {
    const { data, format } = fieldsOf(audio)
    return isBase64(data) && (format === 'wav' || format === 'mp3')
  }
  const { file_data: data, file_id: id, filename } = fieldsOf(file)
  return type === 'file' && (isText(id) || (isDataUrl(data, /^application\/pdf$/) && isText(filename)))
}

export function isOpenAiResponsesPart(part: Part): boolean {
  const { type, text, detail, image_url: image, file_id: id, file_data: data, file_url: url, filename } = part
  if (type === 'input_text') return isText(text)
  if (type === 'input_image')
    return (
      ['auto', 'low', 'high', 'original'].includes(String(detail)) &&
      (isText(id) || isUrl(image) || isDataUrl(image, IMAGE))
    )
  return (
    type === 'input_file' && (isText(id) || isUrl(url) || (isDataUrl(data, /^application\/pdf$/) && isText(filename)))
  )
}

export function isAnthropicMedia({ type, source }: Part): boolean {
  const { type: kind, media_type: mediaType, data, url } = fieldsOf(source)
  if (kind === 'url') return isUrl(url)
  const allowed = type === 'image' ? IMAGE : /^application\/pdf$/
  return kind === 'base64' && allowed.test(String(mediaType)) && isBase64(data)
}

export function isAiSdkUserPart({ type, text, image, data, mediaType }: Part): boolean {
  if (type === 'text') return isText(text)
  if (type === 'image') return isUrl(image) || isBase64(image)
  return type === 'file' && isText(mediaType) && (isUrl(data) || isBase64(data))
}

export function isAiSdkOutputPart({ type, text, data, mediaType }: Part): boolean {
  return type === 'text' ? isText(text) : type === 'media' && isText(mediaType) && isBase64(data)
}
