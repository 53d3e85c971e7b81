import { agentParamsSchema } from '../http/agents.js'
import { orderedPageQuerySchema } from '../http/common.js'
import {
  iterationPageSchema,
  iterationsAppendedSchema,
  iterationsBodySchema,
  runStateSchema,
} from '../http/iterations.js'
import {
  agentMessagesQuerySchema,
  appendBodySchema,
  appendedSchema,
  findMessagesQuerySchema,
  messagePageSchema,
  receivedAppendBodySchema,
} from '../http/messages.js'
import { selectedMessagesQuerySchema } from '../http/pruning.js'
import { threadParamsSchema } from '../http/threads.js'
import { limits } from '../primitives/limits.js'
import { erasureAnswers, erasureHeaders } from './erasure.js'
import { operation } from './operation.js'

const keyHeader = {
  'Idempotency-Key':
    'Derives an id from this key and the position for each message without one, so that a repeated request is stored once. Another message at the same position under the same key, in the same thread, is a conflict.',
}

export const messageOperations = {
  appendMessages: operation({
    method: 'POST',
    path: '/v1/threads/:thread/messages',
    tag: 'messages',
    needs: 'produce',
    repeat: 'by-key',
    stage: 'ingest',
    summary: 'Append messages to a thread, in their order',
    description:
      "Agent and thread are created if they do not exist. With a `format` other than `neutral`, messages have the form of that provider's package: messages of requests, and unmodified replies, which are stored once by their own ids. Messages with ids, or with an Idempotency-Key, may be sent any number of times and are stored once.",
    params: threadParamsSchema,
    body: appendBodySchema,
    receivedBody: receivedAppendBodySchema,
    bodyBytesMax: limits.httpBodyBytesMax,
    headers: {
      ...keyHeader,
      Prefer:
        '`wait=N`: wait at most N seconds until they are stored. Default 30. `ids-are-new`: the ids were created for this request, so existing messages are not checked; leave it out when you send it again, or repeats count as `stored`.',
    },
    answers: {
      200: { description: 'They are committed.', schema: appendedSchema },
      202: { description: 'With `ack: queued`: they are in the queue.', schema: appendedSchema },
    },
  }),
  listMessages: operation({
    method: 'GET',
    path: '/v1/threads/:thread/messages',
    tag: 'messages',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The history of a thread',
    description:
      'Every message ever appended, including those hidden from contexts by clears and rolling windows. A page with large messages may be short.',
    params: threadParamsSchema,
    query: orderedPageQuerySchema,
    answers: { 200: { description: 'A page of messages.', schema: messagePageSchema } },
  }),
  eraseMessages: operation({
    method: 'DELETE',
    path: '/v1/threads/:thread/messages',
    tag: 'messages',
    needs: 'admin',
    repeat: 'idempotent',
    summary: 'Permanently erase messages of a thread, and everything that was derived from them',
    description:
      'The query names `message`, or `fromSeq` with `toSeq`. Tool calls and their results are erased together. The messages stay in the history with their numbers and without content; contexts that showed them are erased, summaries are made again without them, and their ids are never stored again. An erasure that outlasts the request goes on by itself.',
    params: threadParamsSchema,
    query: selectedMessagesQuerySchema,
    headers: erasureHeaders,
    answers: erasureAnswers,
  }),
  listAgentMessages: operation({
    method: 'GET',
    path: '/v1/agents/:agent/messages',
    tag: 'messages',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The history of an agent over all of its threads',
    description:
      'Every message ever appended to a thread of the agent, by time, including those hidden from contexts by clears and rolling windows. A page with large messages may be short.',
    params: agentParamsSchema,
    query: agentMessagesQuerySchema,
    answers: { 200: { description: 'A page of messages.', schema: messagePageSchema } },
  }),
  findMessages: operation({
    method: 'GET',
    path: '/v1/messages',
    tag: 'messages',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The messages with an id at their source, newest first',
    description:
      'Each shows its thread, to which a reply to it belongs. There are several if one entry of the source became several messages, or if several threads have it.',
    query: findMessagesQuerySchema,
    answers: { 200: { description: 'A page of messages; empty if no message has it.', schema: messagePageSchema } },
  }),
  appendIterations: operation({
    method: 'POST',
    path: '/v1/threads/:thread/iterations',
    tag: 'iterations',
    needs: 'produce',
    repeat: 'by-key',
    stage: 'ingest',
    summary: 'Append iterations of an autonomous run',
    description:
      'The output of each is also a message of the thread, which is in none of its contexts, but is embedded, found by searches, recalled by its reference, and remembered.',
    params: threadParamsSchema,
    body: iterationsBodySchema,
    bodyBytesMax: limits.httpBodyBytesMax,
    headers: { ...keyHeader, Prefer: '`wait=N`: wait at most N seconds until they are stored. Default 30.' },
    answers: {
      200: { description: 'They are committed.', schema: iterationsAppendedSchema },
      202: { description: 'With `ack: queued`: they are in the queue.', schema: iterationsAppendedSchema },
    },
  }),
  getRunState: operation({
    method: 'GET',
    path: '/v1/threads/:thread/iterations/state',
    tag: 'iterations',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The state of an autonomous run: its newest iterations, the summary of older ones, and its environment',
    params: threadParamsSchema,
    answers: { 200: { description: 'The state.', schema: runStateSchema } },
  }),
  listIterations: operation({
    method: 'GET',
    path: '/v1/threads/:thread/iterations',
    tag: 'iterations',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The iterations of a thread by number',
    params: threadParamsSchema,
    query: orderedPageQuerySchema,
    answers: { 200: { description: 'A page of iterations.', schema: iterationPageSchema } },
  }),
}
