import {
  archiveFoundSchema,
  archivePageSchema,
  archiveQuerySchema,
  archiveSearchBodySchema,
  foundSchema,
  recallBodySchema,
  recalledSchema,
  searchBodySchema,
} from '../http/recall.js'
import { operation } from './operation.js'

export const recallOperations = {
  recall: operation({
    method: 'POST',
    path: '/v1/recall',
    tag: 'recall',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'Bring back the full text of what a context shows in short',
    body: recallBodySchema,
    answers: { 200: { description: 'The content, as far as asked for.', schema: recalledSchema } },
  }),
  search: operation({
    method: 'POST',
    path: '/v1/search',
    tag: 'recall',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'Find messages by words and by meaning, in a thread, an agent or the whole project',
    description: 'Messages can be found a moment after they were stored, once the embed stage has met them.',
    body: searchBodySchema,
    answers: { 200: { description: 'What was found, best first.', schema: foundSchema } },
  }),
  listArchive: operation({
    method: 'GET',
    path: '/v1/archive',
    tag: 'recall',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'What was condensed, newest first: its full text comes back by its reference',
    description: 'Of the project, an agent or a thread; kind, tool, path, failure and time narrow it.',
    query: archiveQuerySchema,
    answers: {
      200: {
        description: 'A page of archive entries; one may be short and the list go on.',
        schema: archivePageSchema,
      },
    },
  }),
  searchArchive: operation({
    method: 'POST',
    path: '/v1/archive/search',
    tag: 'recall',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'Find what was condensed, by words, meaning, kind, path, tool and time',
    body: archiveSearchBodySchema,
    answers: { 200: { description: 'What was found, best first.', schema: archiveFoundSchema } },
  }),
}
