import { threadParamsSchema } from '../http/threads.js'
import {
  largestMessagePageSchema,
  largestMessagesQuerySchema,
  toolUsePageSchema,
  toolUseQuerySchema,
} from '../http/tool-use.js'
import { operation } from './operation.js'

export const toolUseOperations = {
  listToolUse: operation({
    method: 'GET',
    path: '/v1/threads/:thread/tools',
    tag: 'messages',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The tools of a thread, with the number and tokens of their results, the most tokens first',
    description: 'In one page, of at most 500 tools. With a context, also what this context shows of each.',
    params: threadParamsSchema,
    query: toolUseQuerySchema,
    answers: { 200: { description: 'Every tool with results.', schema: toolUsePageSchema } },
  }),
  listLargestMessages: operation({
    method: 'GET',
    path: '/v1/threads/:thread/largest-messages',
    tag: 'messages',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The messages of a thread, or the results of one tool, the largest first',
    description: 'Each with the beginning of its content; recall returns the rest.',
    params: threadParamsSchema,
    query: largestMessagesQuerySchema,
    answers: { 200: { description: 'A page of messages.', schema: largestMessagePageSchema } },
  }),
}
