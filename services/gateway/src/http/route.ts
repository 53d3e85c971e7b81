import type { IncomingHttpHeaders } from 'node:http'
import type { Client } from '@heddle/client/interface'
import type { AccessRole, Permission } from '@heddle/contracts'
import { parse } from '@heddle/contracts'
import type { NewShare } from '@heddle/queue'
import { z } from 'zod'

export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** A request as it came, and what it is answered with. */
export interface RawRequest {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly headers: IncomingHttpHeaders
  readonly client: Client
  /** What the caller is, for routes that do more for some. */
  readonly role: AccessRole
  /** Aborted once nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

export interface RouteResponse {
  readonly description: string
  readonly schema: z.ZodType
  /** Headers of it, with what they say. */
  readonly headers?: Readonly<Record<string, string>>
}

/** What the OpenAPI document tells of a route, and what a request is parsed with: the same. */
export interface RouteContract {
  /** The name of the operation in programs. */
  readonly id: string
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** `/v1/agents/:agent` */
  readonly path: string
  readonly tag: string
  /** What its caller must be allowed to do. */
  readonly needs: Permission
  readonly summary: string
  readonly description?: string
  readonly params: z.ZodType
  readonly query: z.ZodType
  readonly body: z.ZodType
  readonly bodyBytesMax?: number
  /** Whose workers do it, where a project has a share of them: then who has that under way is refused unread. */
  readonly stage?: NewShare['stage']
  /** Request headers that it heeds, with what they say. */
  readonly headers?: Readonly<Record<string, string>>
  readonly responses: Readonly<Record<number, RouteResponse>>
}

export interface Route extends RouteContract {
  answer(request: RawRequest): Promise<Answer>
}

interface Parsed<Params, Query, Body> extends Pick<RawRequest, 'headers' | 'client' | 'role' | 'signal'> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
}

type Definition<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> = Omit<
  RouteContract,
  'params' | 'query' | 'body'
> & {
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  readonly handle: (request: Parsed<z.output<Params>, z.output<Query>, z.output<Body>>) => Promise<Answer>
}

export const nothing = z.strictObject({})
/** Routes without a body do not look at one. */
export const noBody = z.unknown()

/** A route whose handler gets what its schemas have read. */
export function route<
  Params extends z.ZodType = typeof nothing,
  Query extends z.ZodType = typeof nothing,
  Body extends z.ZodType = typeof noBody,
>(definition: Definition<Params, Query, Body>): Route {
  const { handle, ...contract } = definition
  const params: z.ZodType = contract.params ?? nothing
  const query: z.ZodType = contract.query ?? nothing
  const body: z.ZodType = contract.body ?? noBody
  return {
    ...contract,
    params,
    query,
    body,
    answer: (request) =>
      handle({
        ...request,
        params: parse(params, request.params, 'path') as z.output<Params>,
        query: parse(query, request.query, 'query') as z.output<Query>,
        body: parse(body, request.body, 'body') as z.output<Body>,
      }),
  }
}

/** Milliseconds since 1970, as HTTP shows them. */
export function isoTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString()
}

/** A page as the client takes it. */
export function pageOptions({ limit, cursor }: { limit?: number | undefined; cursor?: string | undefined }): {
  limit?: number
  cursor?: string
} {
  return { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) }
}
