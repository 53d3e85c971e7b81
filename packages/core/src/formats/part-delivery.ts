import type { FormatName, StoredPart } from '@heddle/contracts'
import { joinSegments, partLine, segmentsOf } from '../parts/line.js'
import { slotText } from '../parts/slots.js'
import { partTokens } from '../parts/tokens.js'
import type { NeutralMessage, NeutralPart } from './neutral-message.js'

/** What every provider of images takes. */
const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
const PDF = 'application/pdf'
/** What OpenAI's chat completions call the sounds that they take. */
export const OPENAI_SOUNDS: Readonly<Record<string, 'wav' | 'mp3'>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
}
/** OpenAI's ids of files; Anthropic's begin with `file_`, and only its beta takes them in messages. */
const OPENAI_FILE = /^file-/

/** Whether a format has a place for a part in a message; where it has none, a line names the part. */
export function takesPart(format: FormatName, { role, isError }: NeutralMessage, part: StoredPart): boolean {
  if (role !== 'user' && role !== 'tool_result') return false
  if (format === 'neutral') return true
  // An error is text alone for Anthropic, and for the AI SDK, which has a kind of output for it.
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

/** A message's content as texts and parts in their order; a text alone where the format delivers no part of it. */
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

/** What stands for a part's bytes until its context is handed out. */
export function slotOf(part: StoredPart, format: FormatName): string {
  return slotText(part.sha256 ?? '', partTokens(part, format))
}

/** Bytes as a data URL, an address as it is. */
export function addressOf(part: StoredPart, format: FormatName): string {
  return part.url ?? `data:${part.mediaType ?? 'application/octet-stream'};base64,${slotOf(part, format)}`
}

/** The name of a file where the form wants one. */
export function fileNameOf(part: StoredPart): string {
  return (part.name ?? (part.mediaType === PDF ? 'document.pdf' : 'document')).toWellFormed()
}
