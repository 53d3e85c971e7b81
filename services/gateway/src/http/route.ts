import { type Operation, parse } from '@heddle/contracts'
import type { Caller } from './handler.js'

/** A request before its parts are parsed. */
export interface RawRequest extends Caller {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** An operation with its handler bound to it. */
export interface Route {
  readonly operation: Operation
  answer(request: RawRequest): Promise<Reply>
}

/** Binds a handler to an operation: each request is parsed by the operation's schemas first. */
export function routeOf(operation: Operation, handle: (request: RawRequest) => Promise<unknown>): Route {
  const { params, query, body, receivedBody = body, answers } = operation
  const [status] = Object.keys(answers)
  return {
    operation,
    async answer(request) {
      const answer = await handle({
        ...request,
        params: parse(params, request.params, 'path'),
        query: parse(query, request.query, 'query'),
        // An operation without a body ignores one.
        body: receivedBody && parse(receivedBody, request.body, 'body'),
      })
      return 202 in answers ? (answer as Reply) : { status: Number(status), body: answer }
    },
  }
}
