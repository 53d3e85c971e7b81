import { prunePlanQuerySchema, prunePlanSchema, uncompactBodySchema, uncompactedSchema } from '../http/pruning.js'
import { threadParamsSchema } from '../http/threads.js'
import { operation } from './operation.js'

export const compactionOperations = {
  getPrunePlan: operation({
    method: 'GET',
    path: '/v1/threads/:thread/prune-plan',
    tag: 'threads',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'Preview a compaction of a thread: its effect on each message, and the tokens it would free',
    description: 'Nothing is changed. Model, budget and strategy override the settings of the thread and its agent.',
    params: threadParamsSchema,
    query: prunePlanQuerySchema,
    answers: { 200: { description: 'The plan.', schema: prunePlanSchema } },
  }),
  uncompact: operation({
    method: 'POST',
    path: '/v1/threads/:thread/uncompact',
    tag: 'threads',
    needs: 'produce',
    repeat: 'idempotent',
    summary: 'Undo what compactions did to a message, a range or a whole thread',
    description:
      'The body names one of `message`, `fromSeq` with `toSeq`, or `all`. The next context shows those messages verbatim if they fit, and they are not compacted again until `redo` permits it.',
    params: threadParamsSchema,
    body: uncompactBodySchema,
    answers: { 200: { description: 'The messages concerned.', schema: uncompactedSchema } },
  }),
}
