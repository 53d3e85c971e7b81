import { z } from 'zod'
import type { Permission } from '../access.js'
import type { OperationTag } from './tags.js'

/**
 * The effect of sending the same request again. `idempotent`: no further effect. `by-key`: no further effect under the
 * same `Idempotency-Key`, or with the same ids in its body. `once`: a further effect, or another answer; a client
 * repeats it only after a refusal that guarantees nothing was started.
 */
export type Repeatability = 'idempotent' | 'by-key' | 'once'

export interface OperationAnswer {
  readonly description: string
  readonly schema: z.ZodType
  /** Default `application/json`; an answer of another type is streamed. */
  readonly mediaType?: string
  /** Response headers, with their meanings. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * One operation of the HTTP interface. Routes, the HTTP client, the OpenAPI document, the MCP tools and
 * docs/http-operations.md are derived from it.
 */
export interface Operation {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** `/v1/agents/:agent`; the names after colons are the fields of `params`. */
  readonly path: `/v1/${string}`
  readonly tag: OperationTag
  readonly needs: Permission
  readonly repeat: Repeatability
  /** One line for lists of operations. */
  readonly summary: string
  readonly description?: string
  readonly params: z.ZodObject
  readonly query: z.ZodObject
  /** Absent if the operation reads no body. */
  readonly body?: z.ZodType
  /** Parsed by the route instead of `body`, for a handler that calls code which parses the rest. */
  readonly receivedBody?: z.ZodType
  /** Default `application/json`; a body of another type reaches the handler as a text. */
  readonly bodyMediaType?: string
  /** Default `limits.httpSmallBodyBytesMax`. */
  readonly bodyBytesMax?: number
  /** The stage whose workers execute it, and which each project has a share of. */
  readonly stage?: 'ingest' | 'assemble'
  /** Supported request headers, with their meanings. */
  readonly headers?: Readonly<Record<string, string>>
  /** By status. */
  readonly answers: Readonly<Record<number, OperationAnswer>>
}

const noFields = z.strictObject({})
const defaults = { params: noFields, query: noFields } as const

type Defaults = typeof defaults
type Given = Omit<Operation, keyof Defaults> & Partial<Defaults | Pick<Operation, keyof Defaults>>

/** An entry of the table, typed by its own schemas. */
export function operation<const Entry extends Given>(entry: Entry): Omit<Defaults, keyof Entry> & Entry {
  return { ...defaults, ...entry }
}
