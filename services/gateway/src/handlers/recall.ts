import type { recallOperations } from '@heddle/contracts'
import type { Handlers } from '../http/handler.js'

/** Recall and search of content that contexts shorten or omit. */
export const recallHandlers: Handlers<typeof recallOperations> = {
  recall: ({ client, body }) => client.recall(body),
  search: async ({ client, body }) => ({ ...(await client.search(body)), nextCursor: null }),
  listArchive: ({ client, query }) => client.archive.list(query),
  searchArchive: async ({ client, body }) => ({ ...(await client.archive.search(body)), nextCursor: null }),
}
