import type { AiSdkMessage } from '@heddle/contracts'

/** A message of a prompt, as far as the versions 2 to 4 of the provider's interface agree. */
export interface PromptMessage {
  readonly role: string
  readonly content: unknown
}

export type SpecificationVersion = 'v2' | 'v3' | 'v4'

type Part = Readonly<Record<string, unknown>>

/** A message of a prompt in the form of a `ModelMessage`, which has the bytes of files as text. */
export function toModelMessage({ role, content }: PromptMessage): Record<string, unknown> {
  return { role, content: Array.isArray(content) ? content.map(plainPart) : content }
}

function plainPart(part: Part): Part {
  if (part['type'] !== 'file') return part
  const { data } = part
  const value = isPart(data) && 'type' in data ? (data['data'] ?? data['url']) : data
  if (value instanceof Uint8Array) return { ...part, data: base64(value) }
  return { ...part, data: value instanceof URL ? value.href : value }
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array) && !(value instanceof URL)
}

function base64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}

/** A message of a context in the form of a prompt. */
export function toPromptMessage(message: AiSdkMessage, version: SpecificationVersion): PromptMessage {
  if (typeof message.content === 'string')
    return { role: message.role, content: [{ type: 'text', text: message.content }] }
  const parts: readonly Part[] = message.content
  return { role: message.role, content: parts.map((part) => promptPart(part, version)) }
}

function promptPart(part: Part, version: SpecificationVersion): Part {
  if (part['type'] === 'image') {
    return { type: 'file', mediaType: part['mediaType'] ?? 'image/*', data: fileData(part['image'], version) }
  }
  if (part['type'] === 'file') return { ...part, data: fileData(part['data'], version) }
  const { output } = part
  if (part['type'] !== 'tool-result' || !isPart(output) || output['type'] !== 'content') return part
  const value = (output['value'] as Part[]).map((each) => resultPart(each, version))
  return { ...part, output: { ...output, value } }
}

/** Version 4 says whether it is data or an address; in the earlier ones an address has a type of its own. */
function fileData(given: unknown, version: SpecificationVersion): unknown {
  const address = typeof given === 'string' && /^https?:/.test(given) ? new URL(given) : null
  if (version !== 'v4') return address ?? given
  return address === null ? { type: 'data', data: given } : { type: 'url', url: address }
}

function resultPart(part: Part, version: SpecificationVersion): Part {
  if (part['type'] !== 'media' || version === 'v2') return part
  const { data, mediaType } = part
  if (version === 'v4') return { type: 'file', mediaType, data: { type: 'data', data } }
  return { type: String(mediaType).startsWith('image/') ? 'image-data' : 'file-data', mediaType, data }
}
