import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import { idSchema } from '../primitives/names.js'

export const time = z.string().min(10).max(40)
export const hash = z.string().regex(/^\\x[0-9a-f]{2,128}$/, 'must be bytes as \\x and hexadecimal digits')
export const count = z.int().min(0)
export const seconds = z.number()
export const text = z.string().max(limits.recordCharactersMax)
export const line = z.string().max(limits.messageCharactersMax)
export const texts = z.array(text).max(1_000_000)

export const position = { at: time, ordinal: z.int(), id: idSchema }
