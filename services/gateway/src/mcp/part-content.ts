import type { RecallResult } from '@heddle/contracts'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'

type Content = CallToolResult['content'][number]

/** Content blocks of a result besides its JSON. */
interface Shown {
  readonly result: object
  readonly content: Content[]
}

/**
 * Returns an image, a document or audio as a content block of its own: as text in the JSON it would cost as many tokens as
 * a book.
 */
export function showParts(result: object): Shown {
  if ('part' in result) return showRecalled(result as RecallResult)
  if ('messages' in result && Array.isArray(result.messages))
    return { result: { ...result, messages: result.messages.map(withoutBytes) }, content: [] }
  return { result, content: [] }
}

function showRecalled(recalled: RecallResult): Shown {
  const { part, ref } = recalled
  if (part?.data === undefined) return { result: recalled, content: [] }
  const { data, ...rest } = part
  return { result: { ...recalled, part: rest }, content: [toContent(part.type, data, part.mediaType ?? '', ref)] }
}

function toContent(type: string, data: string, mimeType: string, uri: string): Content {
  if (type === 'image') return { type: 'image', data, mimeType }
  if (type === 'audio') return { type: 'audio', data, mimeType }
  return { type: 'resource', resource: { uri, mimeType, blob: data } }
}

/** Removes bytes from a message in the neutral form; its parts keep their references, by which a model can recall them. */
function withoutBytes(message: unknown): unknown {
  if (message === null || typeof message !== 'object' || !('parts' in message) || !Array.isArray(message.parts))
    return message
  return { ...message, parts: message.parts.map(({ data: _, ...part }: Record<string, unknown>) => part) }
}
