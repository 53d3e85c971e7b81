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
    summary: 'Recall the full text of content that a context shows in short',
    body: recallBodySchema,
    answers: { 200: { description: 'The requested content.', schema: recalledSchema } },
  }),
  search: operation({
    method: 'POST',
    path: '/v1/search',
    tag: 'recall',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'Find messages by words and by meaning, in a thread, an agent or the whole project',
    description: 'Messages are found by their words at once, and by meaning once the embed stage has processed them.',
    body: searchBodySchema,
    answers: { 200: { description: 'The hits, best first.', schema: foundSchema } },
  }),
  listArchive: operation({
    method: 'GET',
    path: '/v1/archive',
    tag: 'recall',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'Archived contents, newest first: the full text is recalled by reference',
    description: 'For the project, an agent or a thread; filtered by kind, tool, path, failure and time.',
    query: archiveQuerySchema,
    answers: {
      200: {
        description: 'A page of archive entries; it may be short although the list goes on.',
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
    summary: 'Search archived contents by words, meaning, kind, path, tool and time',
    body: archiveSearchBodySchema,
    answers: { 200: { description: 'The hits, best first.', schema: archiveFoundSchema } },
  }),
}
