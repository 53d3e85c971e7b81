import type { IncomingHttpHeaders } from 'node:http'
import type { Client } from '@heddle/client/interface'
import type { Operation, Operations, OutputOf, Rights } from '@heddle/contracts'
import type { z } from 'zod'

/** An admitted caller, as handlers see it. */
export interface Caller {
  readonly headers: IncomingHttpHeaders
  /** Limited to the caller's project. */
  readonly client: Client
  /** For operations that do more for some roles. */
  readonly rights: Rights
  /** Aborted when the caller disconnects or the answer takes too long. */
  readonly signal: AbortSignal
}

/** A request parsed by the schemas of its operation. */
interface Request<Entry extends Operation> extends Caller {
  readonly params: z.output<Entry['params']>
  readonly query: z.output<Entry['query']>
  readonly body: Entry extends { readonly body: infer Body extends z.ZodType } ? z.output<Body> : undefined
}

type Answers<Entry extends Operation> = Entry['answers']
/** An answer with a media type other than JSON is streamed as strings. */
type Body<Answer> = Answer extends { readonly mediaType: string }
  ? AsyncIterable<string>
  : Answer extends { readonly schema: infer Schema extends z.ZodType }
    ? OutputOf<Schema>
    : never

/** One of several possible answers of an operation, distinguished by status. */
type AnswerWithStatus<Entry extends Operation> = {
  [Status in keyof Answers<Entry>]: {
    readonly status: Status
    readonly headers?: Readonly<Record<string, string>>
    readonly body: Body<Answers<Entry>[Status]>
  }
}[keyof Answers<Entry>]

/** A handler with one possible answer returns its body; a handler with several also returns the status. */
type Answer<Entry extends Operation> =
  Answers<Entry> extends { readonly 202: object } ? AnswerWithStatus<Entry> : Body<Answers<Entry>[keyof Answers<Entry>]>

/** Exactly one handler for each of the given operations. */
export type Handlers<Entries extends Partial<Operations>> = {
  readonly [Id in keyof Entries]: Entries[Id] extends Operation
    ? (request: Request<Entries[Id]>) => Promise<Answer<Entries[Id]>>
    : never
}
