import type { Role, StoredPart } from '@heddle/contracts'
import { recallTag } from '../conversation/references.js'
import { oneLine, truncate } from '../tools/lines.js'

/** Names and URLs are untrusted: they are limited to a part of a line. */
const NAMED_CHARACTERS_MAX = 80

/** The fields of a message that the rules about parts read. */
export interface WithParts {
  readonly content: string
  readonly parts?: readonly StoredPart[]
}

/** The reference of a part, from 1: `msg-xxxxxxxx:part-2`. */
export function partReference(messageReference: string, index: number): string {
  return `${messageReference}:part-${index + 1}`
}

/** Describes a part: `image image/png 1280x720, 184 kB, "screen.png"`. */
export function describePart(part: StoredPart): string {
  const { type, mediaType, width, height, bytes, pages, seconds, name, url, fileId } = part
  const kind = mediaType === undefined ? type : `${type} ${mediaType}`
  const facts = [
    width !== undefined && height !== undefined ? `${kind} ${width}x${height}` : kind,
    ...(pages === undefined ? [] : [pages === 1 ? '1 page' : `${pages} pages`]),
    ...(seconds === undefined ? [] : [`${Math.round(seconds * 10) / 10} s`]),
    ...(bytes === undefined ? [] : [sizeInWords(bytes)]),
    ...(name === undefined ? [] : [JSON.stringify(shortened(name))]),
    ...(url === undefined ? [] : [shortened(url)]),
    ...(fileId === undefined ? [] : [`file ${shortened(fileId)}`]),
  ]
  return facts.join(', ')
}

/** The line that replaces a part that is not delivered itself. */
export function partLine(part: StoredPart, reference: string): string {
  return `[${describePart(part)}] ${recallTag(reference)}`
}

/** The lines of all parts of a message; empty for a message without parts. */
export function partLines({ parts = [] }: Pick<WithParts, 'parts'>, messageReference: string): string[] {
  return parts.map((part, index) => partLine(part, partReference(messageReference, index)))
}

/**
 * A message's content with a line in place of each part: used for reading, cutting and condensing if parts cannot be
 * delivered.
 */
export function contentWithLines(message: WithParts, messageReference: string): string {
  const lines = partLines(message, messageReference)
  return lines.length === 0
    ? message.content
    : joinSegments(segmentsOf(message).map((one) => (typeof one === 'string' ? one : (lines[one] ?? ''))))
}

/** The texts of a content and the indexes of the parts between them, in order; empty texts are left out. */
export function segmentsOf({
  content,
  parts = [],
}: {
  content: string
  parts?: readonly Pick<StoredPart, 'offset'>[]
}): (string | number)[] {
  const segments: (string | number)[] = []
  let from = 0
  for (const [index, { offset = content.length }] of parts.entries()) {
    const text = content.slice(from, Math.max(from, offset))
    if (text !== '') segments.push(text)
    from = Math.max(from, offset)
    segments.push(index)
  }
  if (from < content.length) segments.push(content.slice(from))
  return segments
}

/** Joins texts, each on a line of its own. */
export function joinSegments(texts: readonly string[]): string {
  return texts.reduce((whole, text) => {
    const isApart = whole === '' || text === '' || whole.endsWith('\n') || text.startsWith('\n')
    return `${whole}${isApart ? '' : '\n'}${text}`
  }, '')
}

/** Whether parts of a message of that role are delivered if the format supports them; otherwise lines name them. */
export function mayDeliverParts(role: Role): boolean {
  return role === 'user' || role === 'tool_result'
}

function shortened(text: string): string {
  return truncate(oneLine(text.replaceAll('[recall:', '[recall ')), NAMED_CHARACTERS_MAX)
}

function sizeInWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  return bytes < 999_500 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
