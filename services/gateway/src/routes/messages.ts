import type { AppendMessages, NewIteration } from '@heddle/client/interface'
import {
  appendBodySchema,
  appendedSchema,
  iterationPageSchema,
  iterationsAppendedSchema,
  iterationsBodySchema,
  limits,
  messagePageSchema,
  orderedPageQuerySchema,
  threadParamsSchema,
} from '@heddle/contracts'
import { createIds, readKey } from '../http/idempotency.js'
import { readPrefer } from '../http/prefer.js'
import { pageOptions, type Route, route } from '../http/route.js'

const headers = {
  'Idempotency-Key':
    'Gives what comes without an id one that is made of this key and its place, so that the same request may be sent again and is stored once. Another message at the same place of a request under the same key, to the same thread, is a conflict.',
}

export const messageRoutes: readonly Route[] = [
  route({
    id: 'appendMessages',
    method: 'POST',
    path: '/v1/threads/:thread/messages',
    tag: 'messages',
    needs: 'produce',
    stage: 'ingest',
    summary: 'Append messages to a thread, in their order',
    description:
      'Agent and thread are made where they are missing. With a `format` other than `neutral`, messages are as the package of that provider gives and takes them: messages of requests, and replies as they came, which are stored once by their own ids. Messages that have ids, or an Idempotency-Key, may be sent any number of times and are stored once.',
    params: threadParamsSchema,
    body: appendBodySchema,
    bodyBytesMax: limits.httpBodyBytesMax,
    headers: {
      ...headers,
      Prefer:
        '`wait=N`: wait at most N seconds until they are stored. Default 30. `ids-are-new`: the ids were made for this request, and are not looked up before; leave it out when you send it again, or what is there counts as `stored`.',
    },
    responses: {
      200: { description: 'They are committed.', schema: appendedSchema },
      202: { description: 'With `ack: queued`: the queue has them.', schema: appendedSchema },
    },
    async handle({ client, params, body, headers, signal }) {
      const { ack = 'stored' } = body
      const { waitMs, idsAreNew } = readPrefer(headers['prefer'])
      const idempotencyKey = readKey(headers['idempotency-key'])
      const appended = await client.messages.append({
        // The client reads messages by their format, and says of what form they are not.
        ...(body as AppendMessages & { agent: string; contextId?: string }),
        thread: params.thread,
        ack,
        idsAreNew,
        // Who is refused at once can come again; who waits here holds a whole body in memory.
        onBusy: 'fail',
        signal,
        ...(waitMs !== undefined && { deadlineMs: waitMs }),
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      })
      return { status: ack === 'queued' ? 202 : 200, body: appended }
    },
  }),
  route({
    id: 'listMessages',
    method: 'GET',
    path: '/v1/threads/:thread/messages',
    tag: 'messages',
    needs: 'read',
    summary: 'The history of a thread',
    description:
      'Everything that was ever appended, whatever clears and rolling windows hide from contexts. A page ends early where its messages are large.',
    params: threadParamsSchema,
    query: orderedPageQuerySchema,
    responses: { 200: { description: 'A page of messages.', schema: messagePageSchema } },
    async handle({ client, params, query }) {
      const { order } = query
      return {
        body: await client.messages.list({
          thread: params.thread,
          ...pageOptions(query),
          ...(order !== undefined && { order }),
        }),
      }
    },
  }),
  route({
    id: 'appendIterations',
    method: 'POST',
    path: '/v1/threads/:thread/iterations',
    tag: 'iterations',
    needs: 'produce',
    summary: 'Append iterations of an autonomous run',
    params: threadParamsSchema,
    body: iterationsBodySchema,
    bodyBytesMax: limits.httpBodyBytesMax,
    headers,
    responses: { 200: { description: 'They are committed.', schema: iterationsAppendedSchema } },
    async handle({ client, params, body, headers }) {
      const idOf = createIds(headers['idempotency-key'], 'iteration', params.thread)
      const iterations = body.iterations.map((iteration, index) => withId(iteration, idOf(index))) as NewIteration[]
      return { body: await client.iterations.append({ agent: body.agent, thread: params.thread, iterations }) }
    },
  }),
  route({
    id: 'listIterations',
    method: 'GET',
    path: '/v1/threads/:thread/iterations',
    tag: 'iterations',
    needs: 'read',
    summary: 'The iterations of a thread by number',
    params: threadParamsSchema,
    query: orderedPageQuerySchema,
    responses: { 200: { description: 'A page of iterations.', schema: iterationPageSchema } },
    async handle({ client, params, query }) {
      const { order } = query
      const options = { ...pageOptions(query), ...(order !== undefined && { order }) }
      return { body: await client.iterations.list(params.thread, options) }
    },
  }),
]

/** What has an id keeps it; without either, the client gives a new one. */
function withId<Entry extends { id?: string | undefined }>(entry: Entry, made: string | undefined): Entry {
  const { id = made, ...rest } = entry
  return (id === undefined ? rest : { ...rest, id }) as Entry
}
