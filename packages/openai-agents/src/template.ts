import type { Json } from '@heddle/client/forms'
import { isJsonObject } from '@heddle/client/forms'
import { z } from 'zod'

/**
 * An item is kept beside its message to the letter. Long texts that the message has already, such as the output of a tool
 * or the bytes of an image, are replaced by their places in it, so that they are stored once.
 */
export interface Source {
  readonly content: string
  readonly toolCalls?: readonly { readonly arguments: unknown }[] | undefined
  /** The bytes of each part, as base64. */
  readonly parts?: readonly { readonly data?: string | undefined }[] | undefined
}

const MARK = '$heddle'

const placeSchema = z.discriminatedUnion(MARK, [
  z.object({ [MARK]: z.literal('content'), from: z.int(), to: z.int() }),
  z.object({ [MARK]: z.literal('arguments'), call: z.int() }),
  z.object({ [MARK]: z.literal('part'), part: z.int(), before: z.string() }),
  z.object({ [MARK]: z.literal('bytes'), data: z.string() }),
  z.object({ [MARK]: z.literal('fields'), fields: z.array(z.tuple([z.string(), z.json()])) }),
])

/** Shorter texts cost less than their places. */
const REPLACED_MIN = 40

export function encodeItem(value: unknown, source: Source): Json {
  if (typeof value === 'string') return encodeText(value, source)
  if (value instanceof Uint8Array) return { [MARK]: 'bytes', data: base64(value) }
  if (Array.isArray(value)) return value.map((each) => encodeItem(each ?? null, source))
  if (typeof value !== 'object' || value === null) return (value ?? null) as Json
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  const encoded = Object.fromEntries(fields.map(([name, field]) => [name, encodeItem(field, source)]))
  return MARK in encoded ? { [MARK]: 'fields', fields: Object.entries(encoded) } : encoded
}

function encodeText(text: string, { content, toolCalls = [], parts = [] }: Source): Json {
  if (text.length < REPLACED_MIN) return text
  const from = content.indexOf(text)
  if (from >= 0) return { [MARK]: 'content', from, to: from + text.length }
  const call = toolCalls.findIndex(({ arguments: given }) => given === text)
  if (call >= 0) return { [MARK]: 'arguments', call }
  const part = parts.findIndex(({ data }) => data !== undefined && data.length >= REPLACED_MIN && text.endsWith(data))
  if (part < 0) return text
  return { [MARK]: 'part', part, before: text.slice(0, text.length - (parts[part]?.data?.length ?? 0)) }
}

/** @param readPart returns the bytes of a part, as base64 */
export async function decodeItem(
  value: Json,
  source: Omit<Source, 'parts'>,
  readPart: (part: number) => Promise<string>,
): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((each) => decodeItem(each, source, readPart)))
  if (!isJsonObject(value)) return value
  if (!(MARK in value)) return decodeFields(Object.entries(value), source, readPart)
  const place = placeSchema.parse(value)
  switch (place[MARK]) {
    case 'content':
      return source.content.slice(place.from, place.to)
    case 'arguments':
      return source.toolCalls?.[place.call]?.arguments
    case 'part':
      return `${place.before}${await readPart(place.part)}`
    case 'bytes':
      return Uint8Array.from(atob(place.data), (character) => character.charCodeAt(0))
    case 'fields':
      return decodeFields(place.fields, source, readPart)
  }
}

async function decodeFields(
  fields: readonly [string, Json][],
  source: Omit<Source, 'parts'>,
  readPart: (part: number) => Promise<string>,
): Promise<unknown> {
  const decoded = fields.map(async ([name, field]) => [name, await decodeItem(field, source, readPart)] as const)
  return Object.fromEntries(await Promise.all(decoded))
}

function base64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
