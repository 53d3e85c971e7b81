import { agentParamsSchema } from '../http/agents.js'
import { pageQuerySchema } from '../http/common.js'
import {
  contextBodySchema,
  contextPageSchema,
  contextPairParamsSchema,
  contextParamsSchema,
  contextQuerySchema,
  contextRequestedSchema,
  contextSchema,
  httpContextDiffSchema,
  httpReceiptSchema,
  momentParamsSchema,
  receivedContextBodySchema,
} from '../http/contexts.js'
import {
  messageParamsSchema,
  requestContextLineSchema,
  requestContextSchema,
  requestContextsQuerySchema,
  threadMessageParamsSchema,
} from '../http/request-contexts.js'
import { LINES_MEDIA_TYPE } from '../http/thread-transfer.js'
import { threadParamsSchema } from '../http/threads.js'
import { limits } from '../primitives/limits.js'
import { operation } from './operation.js'

const contextAnswer = { description: 'The context.', schema: contextSchema } as const
const requestedAnswer = {
  description: 'It is being built.',
  schema: contextRequestedSchema,
  headers: { Location: 'Where it will be.', 'Retry-After': 'Seconds after which to poll.' },
} as const

export const contextOperations = {
  buildContext: operation({
    method: 'POST',
    path: '/v1/threads/:thread/contexts',
    tag: 'contexts',
    needs: 'read',
    repeat: 'once',
    stage: 'assemble',
    summary: 'Build a context: messages for a provider, within a budget, with a receipt',
    description:
      'Missing fields of the body are taken from the settings of the thread and its agent. With `append`, the messages are first stored in the thread, as by the append operation, which takes a key of the role `agent` or `admin`; if the context then cannot be built, they stay stored and `facts.appended` of the problem says so.',
    params: threadParamsSchema,
    body: contextBodySchema.optional(),
    receivedBody: receivedContextBodySchema.optional(),
    bodyBytesMax: limits.httpBodyBytesMax,
    headers: {
      'Idempotency-Key':
        'A request repeated with this key appends its messages once, and gets the same context while that is kept. Another request under the same key, in the same thread, is a conflict.',
      Prefer:
        '`wait=N`: wait at most N seconds for it, 30 if it is left out. `respond-async`: do not wait; the answer says where it will be.',
    },
    answers: { 200: contextAnswer, 202: requestedAnswer },
  }),
  listContexts: operation({
    method: 'GET',
    path: '/v1/threads/:thread/contexts',
    tag: 'contexts',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The contexts requested in a thread, newest first, without their messages',
    params: threadParamsSchema,
    query: pageQuerySchema,
    answers: { 200: { description: 'A page of contexts.', schema: contextPageSchema } },
  }),
  getContext: operation({
    method: 'GET',
    path: '/v1/contexts/:context',
    tag: 'contexts',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'A context as it was built',
    description: 'A context that could not be built is answered with the problem that prevented it.',
    params: contextParamsSchema,
    query: contextQuerySchema,
    answers: { 200: contextAnswer, 202: requestedAnswer },
  }),
  getReceipt: operation({
    method: 'GET',
    path: '/v1/contexts/:context/receipt',
    tag: 'contexts',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The receipt of a context: its contents, the reasons, and the cost',
    params: contextParamsSchema,
    answers: { 200: { description: 'The receipt.', schema: httpReceiptSchema }, 202: requestedAnswer },
  }),
  getContextAt: operation({
    method: 'GET',
    path: '/v1/threads/:thread/contexts/at/:at',
    tag: 'contexts',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The last context of a thread that was built up to a moment, as it was delivered',
    params: momentParamsSchema,
    answers: { 200: contextAnswer },
  }),
  diffContexts: operation({
    method: 'GET',
    path: '/v1/contexts/:context/diff/:other',
    tag: 'contexts',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The difference between two contexts: added, removed, changed and moved entries',
    params: contextPairParamsSchema,
    answers: {
      200: {
        description: 'Entries that only one of them has, or that differ.',
        schema: httpContextDiffSchema,
      },
    },
  }),
  getRequestContext: operation({
    method: 'GET',
    path: '/v1/threads/:thread/messages/:message/request-context',
    tag: 'contexts',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The request context of a reply: the items that its context showed, and the sizes of its sections',
    description:
      'It stays as long as the message, also after the context is no longer stored. The history marks messages that have one: `hasRequestContext`.',
    params: threadMessageParamsSchema,
    answers: { 200: { description: 'The request context.', schema: requestContextSchema } },
  }),
  findRequestContext: operation({
    method: 'GET',
    path: '/v1/messages/:message/request-context',
    tag: 'contexts',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The request context of a reply, whose thread is not named',
    description: 'Refused with the candidates as `AMBIGUOUS_REFERENCE` if several threads have such a message.',
    params: messageParamsSchema,
    answers: { 200: { description: 'The request context.', schema: requestContextSchema } },
  }),
  exportRequestContexts: operation({
    method: 'GET',
    path: '/v1/agents/:agent/request-contexts',
    tag: 'contexts',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The request contexts of all replies of an agent, oldest first, as JSON lines',
    description:
      'It is read from the store page by page while it is sent. The last line is `{"type":"end","records":N}`: an answer without it was truncated.',
    params: agentParamsSchema,
    query: requestContextsQuerySchema,
    answers: {
      200: { description: 'One record per line.', schema: requestContextLineSchema, mediaType: LINES_MEDIA_TYPE },
    },
  }),
}
