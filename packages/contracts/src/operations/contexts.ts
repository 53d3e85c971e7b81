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
} from '../http/contexts.js'
import { threadParamsSchema } from '../http/threads.js'
import { limits } from '../primitives/limits.js'
import { operation } from './operation.js'

const contextAnswer = { description: 'The context.', schema: contextSchema } as const
const requestedAnswer = {
  description: 'It is being built.',
  schema: contextRequestedSchema,
  headers: { Location: 'Where it will be.', 'Retry-After': 'Seconds after which to look.' },
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
    description: 'What the body leaves out comes from the settings of the thread and its agent.',
    params: threadParamsSchema,
    body: contextBodySchema.optional(),
    bodyBytesMax: limits.httpBodyBytesMax,
    headers: {
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
    summary: 'The contexts that were asked for in a thread, newest first, without their messages',
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
    description: 'One that could not be built is answered with the problem that kept it from being built.',
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
    summary: 'What is in a context, why, and at what cost',
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
    summary: 'What became of a context in another: what came in, went out, changed its form or moved',
    params: contextPairParamsSchema,
    answers: {
      200: {
        description: 'What the second has that the first has not, and the reverse.',
        schema: httpContextDiffSchema,
      },
    },
  }),
}
