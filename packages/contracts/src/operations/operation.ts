import { z } from 'zod'
import type { Permission } from '../access.js'
import type { OperationTag } from './tags.js'

/**
 * The effect of sending the same request again. `idempotent`: nothing more. `by-key`: nothing more under the same
 * `Idempotency-Key`, or with the same ids in its body. `once`: something more, or another answer; a client sends it again
 * only after a refusal that says nothing was begun.
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
 * One operation of the HTTP interface. Routes, the client over HTTP, the OpenAPI document, the tools of MCP and
 * docs/http-operations.md are made of it.
 */
export interface Operation {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** `/v1/agents/:agent`; the names after colons are the fields of `params`. */
  readonly path: `/v1/${string}`
  readonly tag: OperationTag
  /** The permission that its caller needs. */
  readonly needs: Permission
  readonly repeat: Repeatability
  /** One line for lists of operations. */
  readonly summary: string
  readonly description?: string
  readonly params: z.ZodObject
  readonly query: z.ZodObject
  /** Left out where the operation reads no body. */
  readonly body?: z.ZodType
  /** Default `application/json`; a body of another type reaches the handler as a text. */
  readonly bodyMediaType?: string
  /** Default `limits.httpSmallBodyBytesMax`. */
  readonly bodyBytesMax?: number
  /** The stage whose workers do it, of which each project has a share. */
  readonly stage?: 'ingest' | 'assemble'
  /** Request headers that it heeds, with their meanings. */
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
