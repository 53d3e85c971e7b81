import type { FormatName, StoredPart } from '@heddle/contracts'
import { joinSegments, partLine, segmentsOf } from '../parts/line.js'
import { slotText } from '../parts/slots.js'
import { partTokens } from '../parts/tokens.js'
import type { NeutralMessage, NeutralPart } from './neutral-message.js'

/** Image types that every provider accepts. */
const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
const PDF = 'application/pdf'
/** Names of the audio types that OpenAI's chat completions accept. */
export const OPENAI_SOUNDS: Readonly<Record<string, 'wav' | 'mp3'>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
}
/** OpenAI's file ids; Anthropic's begin with `file_`, and only its beta accepts them in messages. */
const OPENAI_FILE = /^file-/

/** Whether a format can carry a part in a message; if not, a line of text names the part. */
export function takesPart(format: FormatName, { role, isError }: NeutralMessage, part: StoredPart): boolean {
  if (role !== 'user' && role !== 'tool_result') return false
  if (format === 'neutral') return true
  // For Anthropic, and for the AI SDK with its error outputs, an error is text only.
  if (role === 'tool_result' && isError && format !== 'openai-responses') return false
  const isImage = part.type === 'image' && (part.mediaType === undefined || IMAGES.has(part.mediaType))
  const isPdf = part.type === 'document' && part.mediaType === PDF
  switch (format) {
    case 'openai-chat':
      if (role === 'tool_result') return false
      if (part.type === 'audio') return part.sha256 !== undefined && OPENAI_SOUNDS[part.mediaType ?? ''] !== undefined
      if (part.fileId !== undefined) return part.type === 'document' && OPENAI_FILE.test(part.fileId)
      return part.type === 'image' ? isImage : isPdf && part.sha256 !== undefined
    case 'openai-responses':
      if (part.type === 'audio') return false
      if (part.fileId !== undefined) return OPENAI_FILE.test(part.fileId)
      return isImage || isPdf || (part.type === 'document' && part.url !== undefined)
    case 'anthropic':
      if (part.fileId !== undefined) return false
      return isImage || isPdf || (part.type === 'document' && part.url !== undefined && part.mediaType === undefined)
    case 'ai-sdk':
      if (part.fileId !== undefined || (part.url !== undefined && role === 'tool_result')) return false
      if (part.type !== 'image' && part.mediaType === undefined) return false
      return part.type !== 'image' || isImage
  }
}

/** A message's content as texts and parts in order; a single text if the format delivers no part of it. */
export function spoken(format: FormatName, message: NeutralMessage): string | (string | NeutralPart)[] {
  const { content, parts } = message
  if (parts === undefined || parts.length === 0) return content.toWellFormed()
  const segments: (string | NeutralPart)[] = []
  for (const segment of segmentsOf({ content, parts })) {
    const part = typeof segment === 'number' ? parts[segment] : undefined
    const said =
      part === undefined ? String(segment) : takesPart(format, message, part) ? part : partLine(part, part.reference)
    const last = segments.at(-1)
    if (typeof said === 'string' && typeof last === 'string') segments[segments.length - 1] = joinSegments([last, said])
    else segments.push(said)
  }
  const wellFormed = segments.map((one) => (typeof one === 'string' ? one.toWellFormed() : one))
  return wellFormed.every((one) => typeof one === 'string') ? wellFormed.join('') : wellFormed
}

/** The placeholder for a part's bytes until its context is delivered. */
export function slotOf(part: StoredPart, format: FormatName): string {
  return slotText(part.sha256 ?? '', partTokens(part, format))
}

/** Inline bytes as a data URL; a URL unchanged. */
export function addressOf(part: StoredPart, format: FormatName): string {
  return part.url ?? `data:${part.mediaType ?? 'application/octet-stream'};base64,${slotOf(part, format)}`
}

/** The name of a file, for formats that require one. */
export function fileNameOf(part: StoredPart): string {
  return (part.name ?? (part.mediaType === PDF ? 'document.pdf' : 'document')).toWellFormed()
}
