import type { IncomingHttpHeaders } from 'node:http'
import type { Client } from '@heddle/client/interface'
import type { AccessRole, Operation, Operations, OutputOf } from '@heddle/contracts'
import type { z } from 'zod'

/** The caller of a handler, as it was let in. */
export interface Caller {
  readonly headers: IncomingHttpHeaders
  /** Of the caller's project, and of no other. */
  readonly client: Client
  /** The role of the caller, for operations that do more for some. */
  readonly role: AccessRole
  /** Aborted once nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/** A request as its operation's schemas read it. */
interface Request<Entry extends Operation> extends Caller {
  readonly params: z.output<Entry['params']>
  readonly query: z.output<Entry['query']>
  readonly body: Entry extends { readonly body: infer Body extends z.ZodType } ? z.output<Body> : undefined
}

type Answers<Entry extends Operation> = Entry['answers']
/** An answer of another type than JSON is streamed as texts. */
type Body<Answer> = Answer extends { readonly mediaType: string }
  ? AsyncIterable<string>
  : Answer extends { readonly schema: infer Schema extends z.ZodType }
    ? OutputOf<Schema>
    : never

/** An answer of an operation that has several, which are told apart by their status. */
type AnswerWithStatus<Entry extends Operation> = {
  [Status in keyof Answers<Entry>]: {
    readonly status: Status
    readonly headers?: Readonly<Record<string, string>>
    readonly body: Body<Answers<Entry>[Status]>
  }
}[keyof Answers<Entry>]

/** An operation with one answer is handled by what gives its body; one that may be under way still says which answer it is. */
type Answer<Entry extends Operation> =
  Answers<Entry> extends { readonly 202: object } ? AnswerWithStatus<Entry> : Body<Answers<Entry>[keyof Answers<Entry>]>

/** One handler for each of some operations: neither exists without the other. */
export type Handlers<Entries extends Partial<Operations>> = {
  readonly [Id in keyof Entries]: Entries[Id] extends Operation
    ? (request: Request<Entries[Id]>) => Promise<Answer<Entries[Id]>>
    : never
}
