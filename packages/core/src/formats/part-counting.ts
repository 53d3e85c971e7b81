import type { FormatName, PartType } from '@heddle/contracts'
import { measurePart } from '../parts/measure.js'
import { readSlot } from '../parts/slots.js'
import { partTokens, unknownPartTokens } from '../parts/tokens.js'

type Block = Readonly<Record<string, unknown>>

interface Source {
  readonly format: FormatName
  readonly type: PartType
  /** A slot, base64, a data URL or another URL; undefined for a provider's file. */
  readonly text: string | undefined
  readonly mediaType?: string | undefined
  readonly detail?: string | undefined
}

/**
 * Tokens of an image, document or audio block, by the rule of its provider; null for any other block. A slot states its
 * tokens; inline bytes are measured; for a URL the size is unknown.
 */
export function partBlockTokens(block: object): number | null {
  const source = sourceOf(block as Block)
  if (source === null) return null
  const { format, type, text, detail, mediaType } = source
  if (text === undefined || /^https?:/.test(text)) return unknownPartTokens(type, format)
  const slot = readSlot(text)
  if (slot !== null) return slot.tokens
  const bytes = Buffer.from(text.slice(text.startsWith('data:') ? text.indexOf(',') + 1 : 0), 'base64')
  return partTokens(
    {
      type,
      ...measurePart(type, bytes),
      bytes: bytes.length,
      mediaType: mediaType ?? /^data:([^;,]{1,200})/.exec(text.slice(0, 210))?.[1],
      ...(detail === 'low' && { detail }),
    },
    format,
  )
}

function sourceOf(block: Block): Source | null {
  const { type, source, image_url: image, file, input_audio: audio, detail, image: bytes, data } = block
  switch (type) {
    case 'image_url':
      return isBlock(image)
        ? { format: 'openai-chat', type: 'image', text: textOf(image['url']), detail: textOf(image['detail']) }
        : null
    case 'input_audio':
      return isBlock(audio) ? { format: 'openai-chat', type: 'audio', text: textOf(audio['data']) } : null
    case 'input_image':
      return { format: 'openai-responses', type: 'image', text: textOf(image), detail: textOf(detail) }
    case 'input_file':
      return {
        format: 'openai-responses',
        type: 'document',
        text: textOf(block['file_data']) ?? textOf(block['file_url']),
      }
    case 'file':
      if (isBlock(file)) return { format: 'openai-chat', type: 'document', text: textOf(file['file_data']) }
      return mediaOf(block, data)
    case 'media':
      return mediaOf(block, data)
    case 'image':
    case 'document':
    case 'audio':
      if (isBlock(source) && type !== 'audio')
        return { format: 'anthropic', type, text: textOf(source['data']) ?? textOf(source['url']) }
      if (type === 'image' && bytes !== undefined) return { format: 'ai-sdk', type, text: textOf(bytes) }
      return {
        format: 'neutral',
        type,
        text: textOf(data) ?? textOf(block['url']),
        mediaType: textOf(block['mediaType']),
      }
    default:
      return null
  }
}

/** A file of the AI SDK, whose kind follows from its media type. */
function mediaOf(block: Block, data: unknown): Source | null {
  const mediaType = textOf(block['mediaType'])
  if (mediaType === undefined) return null
  const [kind] = mediaType.split('/')
  const type = kind === 'image' || kind === 'audio' ? kind : 'document'
  return { format: 'ai-sdk', type, text: textOf(data), mediaType }
}

function isBlock(value: unknown): value is Block {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
