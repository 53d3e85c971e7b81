import { type Operation, type OperationId, type Operations, operations, type ReadonlyDeep } from '@heddle/contracts'
import type { z } from 'zod'
import { newId } from '../calls/ids.js'
import type { PageOptions } from '../interface/pages.js'
import type { Answered, Call, Transport } from './transport.js'

type Query<Schema extends z.ZodType> = {
  readonly [Name in keyof z.output<Schema>]?: ReadonlyDeep<z.output<Schema>[Name]> | undefined
}

/** The fields of a path or a body; optional if the operation needs no fields. */
type Needed<Name extends string, Fields> =
  Record<never, never> extends Fields ? { readonly [Each in Name]?: Fields } : { readonly [Each in Name]: Fields }

type Given<Entry extends Operation> = Needed<'params', Readonly<z.input<Entry['params']>>> &
  (Entry extends { readonly body: infer Body extends z.ZodType }
    ? Needed<'body', ReadonlyDeep<z.input<Body>>>
    : object) &
  Pick<Call, 'deadlineMs' | 'prefer' | 'signal'> & {
    readonly query?: Query<Entry['query']>
    readonly headers?: Readonly<Record<string, string>>
    /** For operations repeated by key. Default: a new one; null if ids in the body replace it. */
    readonly idempotencyKey?: string | null | undefined
    /** Default: according to the operation. */
    readonly retry?: Call['retry']
  }

type AnswerOf<Entry extends Operation> = {
  [Status in keyof Entry['answers']]: Entry['answers'][Status] extends {
    readonly schema: infer Schema extends z.ZodType
  }
    ? Answered<z.output<Schema>, Status>
    : never
}[keyof Entry['answers']]

/** Calls an operation of the table, and returns its answer with the status. */
export type CallOperation = <Id extends OperationId>(
  id: Id,
  given: Given<Operations[Id]>,
) => Promise<AnswerOf<Operations[Id]>>

const retries = { idempotent: 'again', 'by-key': 'again', once: 'refused' } as const

/** The request of an operation: its path is filled in, and it is repeated only if the table permits it. */
export function requestOf<Id extends OperationId>(id: Id, given: Given<Operations[Id]>): Call {
  const { method, path, repeat, bodyMediaType }: Operation = operations[id]
  const { params = {}, query = {}, headers, idempotencyKey = newId(), retry = retries[repeat], ...rest } = given
  const values: Readonly<Record<string, string>> = params
  return {
    ...rest,
    method,
    route: path,
    path: path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? '')),
    query,
    bodyMediaType,
    headers: {
      ...headers,
      ...(repeat === 'by-key' && idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
    },
    retry,
  }
}

export function callsOf(transport: Transport): CallOperation {
  // The gateway answers with the schemas of the table.
  return (id, given) => transport.call(requestOf(id, given)) as Promise<never>
}

/** The cursor of a list, also under its former name. */
export function pageQuery<Page extends PageOptions>({ after, cursor = after, ...others }: Page) {
  return { ...others, cursor }
}
