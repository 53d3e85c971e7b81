import type { StateOverview } from '@heddle/client/interface'
import {
  erasedSchema,
  erasureQuerySchema,
  httpProcessBodySchema,
  pageQuerySchema,
  processPageSchema,
  processParamsSchema,
  processSchema,
  threadBodySchema,
  threadDetailsResultSchema,
  threadPageSchema,
  threadParamsSchema,
  threadSchema,
  threadsQuerySchema,
} from '@heddle/contracts'
import { readPrefer } from '../http/prefer.js'
import { isoTime, pageOptions, type Route, route } from '../http/route.js'

const tag = 'threads'
const processResponse = { 200: { description: 'The process.', schema: processSchema } }

export const threadRoutes: readonly Route[] = [
  route({
    id: 'putThread',
    method: 'PUT',
    path: '/v1/threads/:thread',
    tag,
    needs: 'produce',
    summary: 'Make a thread, or tell what it is about and how it stands',
    description: 'What is left out of the body stays as it is, and null takes it away.',
    params: threadParamsSchema,
    body: threadBodySchema,
    responses: { 200: { description: 'What is known of the thread.', schema: threadDetailsResultSchema } },
    async handle({ client, params, body }) {
      return { body: await client.threads.put(params.thread, body) }
    },
  }),
  route({
    id: 'getThread',
    method: 'GET',
    path: '/v1/threads/:thread',
    tag,
    needs: 'read',
    summary: 'How a thread stands, and how far each stage has come',
    params: threadParamsSchema,
    responses: { 200: { description: 'The thread.', schema: threadSchema } },
    async handle({ client, params }) {
      const thread = await client.threads.get(params.thread)
      return { body: { ...thread, states: thread.states.map(toState) } }
    },
  }),
  route({
    id: 'deleteThread',
    method: 'DELETE',
    path: '/v1/threads/:thread',
    tag,
    needs: 'admin',
    summary: 'Erase a thread for good',
    description:
      'With all that was derived from it. From the first moment on it is not shown any more, and what is sent to it is refused. An erasure that outlasts the request goes on by itself. The name is refused from then on; with `reuse=true`, also given later, it is free again once nothing is left.',
    params: threadParamsSchema,
    query: erasureQuerySchema,
    headers: { Prefer: '`respond-async`: answer once it is not shown any more, and remove it meanwhile.' },
    responses: {
      200: { description: 'What was removed.', schema: erasedSchema },
      202: { description: 'It is not shown any more, and is being removed.', schema: erasedSchema },
    },
    async handle({ client, params, query, headers }) {
      const { respondAsync } = readPrefer(headers['prefer'])
      const reuse = query.reuse === 'true'
      const erased = await client.threads.delete(params.thread, { wait: !respondAsync, reuse })
      return { status: erased.finished ? 200 : 202, body: erased }
    },
  }),
  route({
    id: 'listThreads',
    method: 'GET',
    path: '/v1/threads',
    tag,
    needs: 'read',
    summary: 'The threads by name',
    query: threadsQuerySchema,
    responses: { 200: { description: 'A page of threads.', schema: threadPageSchema } },
    async handle({ client, query }) {
      const options = { ...pageOptions(query), ...(query.agent !== undefined && { agent: query.agent }) }
      const { items, nextCursor } = await client.threads.list(options)
      const threads = items.map(({ agentName, lastMessageAtMs, createdAtMs, ...thread }) => ({
        ...thread,
        agent: agentName,
        lastMessageAt: isoTime(lastMessageAtMs),
        createdAt: isoTime(createdAtMs),
      }))
      return { body: { items: threads, nextCursor } }
    },
  }),
  route({
    id: 'putProcess',
    method: 'PUT',
    path: '/v1/threads/:thread/processes/:process',
    tag,
    needs: 'produce',
    summary: 'Tell how a process of a thread stands',
    description: 'While it runs, every context of the agent says so. The first word about it needs its status.',
    params: processParamsSchema,
    body: httpProcessBodySchema,
    responses: processResponse,
    async handle({ client, params, body }) {
      return { body: await client.processes.put(params.thread, params.process, body) }
    },
  }),
  route({
    id: 'getProcess',
    method: 'GET',
    path: '/v1/threads/:thread/processes/:process',
    tag,
    needs: 'read',
    summary: 'How a process of a thread stands',
    params: processParamsSchema,
    responses: processResponse,
    async handle({ client, params }) {
      return { body: await client.processes.get(params.thread, params.process) }
    },
  }),
  route({
    id: 'listProcesses',
    method: 'GET',
    path: '/v1/threads/:thread/processes',
    tag,
    needs: 'read',
    summary: 'The processes of a thread by name, those that ended too',
    params: threadParamsSchema,
    query: pageQuerySchema,
    responses: { 200: { description: 'A page of processes.', schema: processPageSchema } },
    async handle({ client, params, query }) {
      return { body: await client.processes.list(params.thread, pageOptions(query)) }
    },
  }),
]

/** A row of the store has more to it than callers are told. */
function toState(state: StateOverview): StateOverview {
  const { id, generation, status, strategy, limitTokens } = state
  const { coveredCount, coveredTokens, summary, summaryTokens, summarizer } = state
  const covered = { coveredCount, coveredTokens }
  return { id, generation, status, strategy, limitTokens, ...covered, summary, summaryTokens, summarizer }
}
