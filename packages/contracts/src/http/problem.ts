import { z } from 'zod'
import { errorCodes } from '../errors.js'
import { named } from './common.js'

/** An error as it is answered over HTTP (RFC 9457), as `application/problem+json`. */
export const problemSchema = named(
  'Problem',
  z.object({
    /** The same for all problems of a code. */
    type: z.string(),
    title: z.string(),
    status: z.int().min(400).max(599),
    code: z.enum(errorCodes),
    detail: z.string(),
    /** The field at fault, as a path: `messages.3.content`. */
    field: z.string().optional(),
    /** What was received there, shortened. */
    received: z.string().optional(),
    /** Seconds after which another try makes sense; the same as the header `Retry-After`. */
    retryAfter: z.number().optional(),
    /** What the caller can do about it. */
    hint: z.string().optional(),
    /** Facts for programs, such as the candidates of an ambiguous reference. */
    facts: z.record(z.string(), z.unknown()).optional(),
    /** The request in the server's log; the same as the header `X-Request-Id`. */
    requestId: z.string(),
  }),
)
export type Problem = z.infer<typeof problemSchema>
