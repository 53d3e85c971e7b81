import {
  pinBodySchema,
  pinChangeSchema,
  pinListSchema,
  prunePlanQuerySchema,
  prunePlanSchema,
  uncompactBodySchema,
  uncompactedSchema,
  unpinQuerySchema,
} from '../http/pruning.js'
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
  pinMessages: operation({
    method: 'POST',
    path: '/v1/threads/:thread/pins',
    tag: 'threads',
    needs: 'produce',
    repeat: 'idempotent',
    summary: 'Pin stored messages: contexts show them verbatim, and no compaction changes them',
    description:
      'The body names `message`, or `fromSeq` with `toSeq`. A pin extends to the calls and results of its turn. It holds until it is taken back, or until its end.',
    params: threadParamsSchema,
    body: pinBodySchema,
    answers: { 200: { description: 'The change.', schema: pinChangeSchema } },
  }),
  unpinMessages: operation({
    method: 'DELETE',
    path: '/v1/threads/:thread/pins',
    tag: 'threads',
    needs: 'produce',
    repeat: 'idempotent',
    summary: 'Take pins back, also those with which messages were appended',
    params: threadParamsSchema,
    query: unpinQuerySchema,
    answers: { 200: { description: 'The change.', schema: pinChangeSchema } },
  }),
  listPins: operation({
    method: 'GET',
    path: '/v1/threads/:thread/pins',
    tag: 'threads',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The pins that were set on stored messages of a thread',
    params: threadParamsSchema,
    answers: { 200: { description: 'The pins, in the order of their messages.', schema: pinListSchema } },
  }),
}
