import { type Operation, type OperationId, type Operations, operations, type ReadonlyDeep } from '@heddle/contracts'
import type { z } from 'zod'
import { newId } from '../calls/ids.js'
import type { PageOptions } from '../interface/pages.js'
import type { Answered, Call, Transport } from './transport.js'

type Query<Schema extends z.ZodType> = {
  readonly [Name in keyof z.output<Schema>]?: ReadonlyDeep<z.output<Schema>[Name]> | undefined
}

/** The fields of a path or a body; they may be left out where the operation needs none of them. */
type Needed<Name extends string, Fields> =
  Record<never, never> extends Fields ? { readonly [Each in Name]?: Fields } : { readonly [Each in Name]: Fields }

/** The parameters of a call of an operation. */
type Given<Entry extends Operation> = Needed<'params', Readonly<z.input<Entry['params']>>> &
  (Entry extends { readonly body: infer Body extends z.ZodType }
    ? Needed<'body', ReadonlyDeep<z.input<Body>>>
    : object) &
  Pick<Call, 'deadlineMs' | 'prefer' | 'signal'> & {
    readonly query?: Query<Entry['query']>
    readonly headers?: Readonly<Record<string, string>>
    /** Of an operation that is repeated by key. Default a new one; null where ids in the body take its place. */
    readonly idempotencyKey?: string | null | undefined
    /** Default as the operation may be repeated. */
    readonly retry?: Call['retry']
  }

type AnswerOf<Entry extends Operation> = {
  [Status in keyof Entry['answers']]: Entry['answers'][Status] extends {
    readonly schema: infer Schema extends z.ZodType
  }
    ? Answered<z.output<Schema>, Status>
    : never
}[keyof Entry['answers']]

/** Calls an operation of the table, and gives its answer with the status. */
export type CallOperation = <Id extends OperationId>(
  id: Id,
  given: Given<Operations[Id]>,
) => Promise<AnswerOf<Operations[Id]>>

const retries = { idempotent: 'again', 'by-key': 'again', once: 'refused' } as const

/** A request of an operation: its path is filled, and it is sent again where the table says that this does no harm. */
export function requestOf<Id extends OperationId>(id: Id, given: Given<Operations[Id]>): Call {
  const { method, path, repeat, bodyMediaType }: Operation = operations[id]
  const { params = {}, query = {}, headers, idempotencyKey = newId(), retry = retries[repeat], ...rest } = given
  const values: Readonly<Record<string, string>> = params
  return {
    ...rest,
    method,
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

/** The place in a list, also under the name that it had. */
export function pageQuery<Page extends PageOptions>({ after, cursor = after, ...others }: Page) {
  return { ...others, cursor }
}
