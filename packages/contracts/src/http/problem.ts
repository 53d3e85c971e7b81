import { z } from 'zod'
import { errorCodes } from '../errors.js'
import { named } from './common.js'

/** An error in an HTTP answer (RFC 9457), as `application/problem+json`. */
export const problemSchema = named(
  'Problem',
  z.object({
    /** Identifies the code: equal for all problems of a code. */
    type: z.string(),
    title: z.string(),
    status: z.int().min(400).max(599),
    code: z.enum(errorCodes),
    detail: z.string(),
    /** The invalid field, as a path: `messages.3.content`. */
    field: z.string().optional(),
    /** The received value, shortened. */
    received: z.string().optional(),
    /** Seconds after which a retry is useful; the same as the header `Retry-After`. */
    retryAfter: z.number().optional(),
    /** Advice for the caller. */
    hint: z.string().optional(),
    /** Facts for programs, such as the candidates of an ambiguous reference. */
    facts: z.record(z.string(), z.unknown()).optional(),
    /** Id of the request in the server's log; the same as the header `X-Request-Id`. */
    requestId: z.string(),
  }),
)
export type Problem = z.infer<typeof problemSchema>
