import {
  archiveFoundSchema,
  archivePageSchema,
  archiveQuerySchema,
  archiveSearchBodySchema,
  foundSchema,
  recallBodySchema,
  recalledSchema,
  searchBodySchema,
} from '@heddle/contracts'
import { pageOptions, type Route, route } from '../http/route.js'

const tag = 'recall'

/** What brings back, finds and lists what contexts show in short, or not at all. */
export const recallRoutes: readonly Route[] = [
  route({
    id: 'recall',
    method: 'POST',
    path: '/v1/recall',
    tag,
    needs: 'read',
    summary: 'Bring back the full text of what a context shows in short',
    body: recallBodySchema,
    responses: { 200: { description: 'The content, as far as asked for.', schema: recalledSchema } },
    async handle({ client, body }) {
      return { body: await client.recall(body) }
    },
  }),
  route({
    id: 'search',
    method: 'POST',
    path: '/v1/search',
    tag,
    needs: 'read',
    summary: 'Find messages by words and by meaning, in a thread, an agent or the whole project',
    description: 'Messages can be found a moment after they were stored, once the embed stage has met them.',
    body: searchBodySchema,
    responses: { 200: { description: 'What was found, best first.', schema: foundSchema } },
    async handle({ client, body }) {
      return { body: { ...(await client.search(body)), nextCursor: null } }
    },
  }),
  route({
    id: 'listArchive',
    method: 'GET',
    path: '/v1/archive',
    tag,
    needs: 'read',
    summary: 'What was condensed, newest first: its full text comes back by its reference',
    description: 'Of the project, an agent or a thread; kind, tool, path, failure and time narrow it.',
    query: archiveQuerySchema,
    responses: {
      200: {
        description: 'A page of archive entries; one may be short and the list go on.',
        schema: archivePageSchema,
      },
    },
    async handle({ client, query: { limit, cursor, ...conditions } }) {
      return { body: await client.archive.list({ ...conditions, ...pageOptions({ limit, cursor }) }) }
    },
  }),
  route({
    id: 'searchArchive',
    method: 'POST',
    path: '/v1/archive/search',
    tag,
    needs: 'read',
    summary: 'Find what was condensed, by words, meaning, kind, path, tool and time',
    body: archiveSearchBodySchema,
    responses: { 200: { description: 'What was found, best first.', schema: archiveFoundSchema } },
    async handle({ client, body }) {
      return { body: { ...(await client.archive.search(body)), nextCursor: null } }
    },
  }),
]
