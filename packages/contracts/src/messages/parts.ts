import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import { foreignNameSchema } from '../primitives/names.js'

/** Kinds of message contents other than text. */
export const partTypes = ['image', 'document', 'audio'] as const
export type PartType = (typeof partTypes)[number]

const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,62}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
/** Four characters of base64 encode three bytes. */
const charactersOf = (bytes: number) => Math.ceil(bytes / 3) * 4

/** Bytes as base64. */
export const partDataSchema = z
  .string()
  .max(charactersOf(limits.partBytesMax), `must encode at most ${limits.partBytesMax} bytes`)
  .refine(
    (text) => text.length % 4 === 0 && BASE64.test(text),
    'must be base64 with its padding, without line breaks and without "data:" before it',
  )

const described = {
  type: z.enum(partTypes, { error: `must be one of ${partTypes.join(', ')}` }),
  /** Such as `image/png`. Required with `data`. */
  mediaType: z
    .string()
    .regex(MEDIA_TYPE, 'must be a media type in lower case without parameters, such as image/png')
    .optional(),
  /** A URL that is passed to the provider unchanged. Heddle never opens it. */
  url: z
    .string()
    .max(limits.partUrlCharactersMax, `must have at most ${limits.partUrlCharactersMax} characters`)
    .regex(/^https?:\/\/[^\s\p{Cc}]+$/u, 'must begin with http:// or https:// and hold no white space')
    .refine((url) => url.isWellFormed(), 'must not hold lone surrogates')
    .optional(),
  /** The id of a file at a provider, sent only to that provider. */
  fileId: foreignNameSchema(512).optional(),
  /** The file's name for people. */
  name: foreignNameSchema(limits.nameCharactersMax).optional(),
  /** The level of detail at which OpenAI processes an image, which determines its price there. */
  detail: z.enum(['auto', 'low', 'high', 'original'], { error: 'must be auto, low, high or original' }).optional(),
  /** Characters of `content` before it. Default: all. */
  offset: z.int().min(0).max(limits.messageCharactersMax).optional(),
  /** In pixels: read from the bytes if possible. */
  width: z.int().min(1).max(1_000_000).optional(),
  height: z.int().min(1).max(1_000_000).optional(),
  /** Pages of a document, likewise. */
  pages: z.int().min(1).max(1_000_000).optional(),
}

/** An image, a document or audio in a message, as a producer sends it: bytes as base64, a URL, or a provider's file. */
export const messagePartSchema = z
  .strictObject({ ...described, data: partDataSchema.optional() })
  .superRefine((part, context) => {
    const fault = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    const sources = [part.data, part.url, part.fileId].filter((source) => source !== undefined)
    if (sources.length !== 1) fault('data', 'is needed, or one of url and fileId instead')
    if (part.data !== undefined && part.mediaType === undefined) fault('mediaType', 'is needed beside data')
    const kind = part.mediaType?.split('/')[0]
    if (kind !== undefined && part.type !== 'document' && kind !== part.type)
      fault('mediaType', `must begin with ${part.type}/ if the type is ${part.type}`)
  })
export type MessagePartInput = z.infer<typeof messagePartSchema>

/** A stored part: its bytes are stored separately, once per content, and found by their hash. */
export const storedPartSchema = z.strictObject({
  ...described,
  /** SHA-256 of the bytes, in hexadecimal digits; absent for a URL and for a provider's file. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits')
    .optional(),
  bytes: z.int().min(0).max(limits.partBytesMax).optional(),
  /** Duration of audio, if its bytes contain it. */
  seconds: z.number().min(0).optional(),
})
export type StoredPart = z.infer<typeof storedPartSchema>

/** The bytes encoded in a part's base64. */
export function partBytes({ data: text }: Pick<MessagePartInput, 'data'>): number {
  if (text === undefined) return 0
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return (text.length / 4) * 3 - padding
}

/** Rules about all parts of a message together. */
export function checkParts(
  { parts = [], content }: { readonly parts?: readonly MessagePartInput[] | undefined; readonly content: string },
  context: z.RefinementCtx,
): void {
  const bytes = parts.reduce((sum, part) => sum + partBytes(part), 0)
  if (bytes > limits.messagePartBytesMax) {
    context.addIssue({
      code: 'too_big',
      origin: 'string',
      maximum: limits.messagePartBytesMax,
      input: parts,
      path: ['parts'],
      message: `must have at most ${limits.messagePartBytesMax} bytes together; these have ${bytes}`,
    })
  }
  let before = 0
  for (const [index, { offset = content.length }] of parts.entries()) {
    const rule =
      offset > content.length
        ? `must be at most ${content.length}, the length of the content`
        : offset < before
          ? `must be at least ${before}, the place of the part before`
          : null
    if (rule !== null) context.addIssue({ code: 'custom', path: ['parts', index, 'offset'], message: rule })
    before = offset
  }
}
