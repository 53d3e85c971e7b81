import {
  itemQuerySchema,
  threadItemAddedSchema,
  threadItemParamsSchema,
  threadItemRemovedSchema,
  threadItemSchema,
  threadItemsSchema,
} from '../http/items.js'
import { threadParamsSchema } from '../http/threads.js'
import { operation } from './operation.js'

export const threadItemOperations = {
  putThreadItem: operation({
    method: 'PUT',
    path: '/v1/threads/:thread/items/:type/:name',
    tag: 'items',
    needs: 'produce',
    repeat: 'idempotent',
    summary: 'Add an item of the agent to a thread by hand',
    params: threadItemParamsSchema,
    query: itemQuerySchema,
    answers: { 200: { description: 'Whether it was added by this request.', schema: threadItemAddedSchema } },
  }),
  getThreadItem: operation({
    method: 'GET',
    path: '/v1/threads/:thread/items/:type/:name',
    tag: 'items',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'An item that a thread holds, as its contexts show it',
    params: threadItemParamsSchema,
    query: itemQuerySchema,
    answers: { 200: { description: 'The item.', schema: threadItemSchema } },
  }),
  deleteThreadItem: operation({
    method: 'DELETE',
    path: '/v1/threads/:thread/items/:type/:name',
    tag: 'items',
    needs: 'produce',
    repeat: 'once',
    summary: 'Remove an item from a thread',
    description: 'An item with the mode `agent` may still be selected for a request.',
    params: threadItemParamsSchema,
    query: itemQuerySchema,
    answers: { 200: { description: 'The thread no longer has the item.', schema: threadItemRemovedSchema } },
  }),
  listThreadItems: operation({
    method: 'GET',
    path: '/v1/threads/:thread/items',
    tag: 'items',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The items that a thread holds, in the order in which contexts show them',
    params: threadParamsSchema,
    answers: { 200: { description: 'All of them.', schema: threadItemsSchema } },
  }),
}
