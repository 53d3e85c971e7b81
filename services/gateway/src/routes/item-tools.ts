import {
  agentParamsSchema,
  limits,
  selectedItemsSchema,
  selectionBodySchema,
  serverParamsSchema,
  syncedToolsSchema,
  toolServerBodySchema,
  toolServerSchema,
  toolsBodySchema,
} from '@heddle/contracts'
import { type Route, route } from '../http/route.js'

const tag = 'items'

/** What MCP servers give an agent, and what a request would select of its items. */
export const itemToolRoutes: readonly Route[] = [
  route({
    id: 'putToolServer',
    method: 'PUT',
    path: '/v1/agents/:agent/servers/:server',
    tag,
    needs: 'admin',
    summary: 'Say how the tools of an MCP server are included that have no mode of their own',
    params: serverParamsSchema,
    body: toolServerBodySchema,
    responses: { 200: { description: 'The mode.', schema: toolServerSchema } },
    async handle({ client, params: { agent, server }, body }) {
      return { body: await client.items.setServer(agent, server, body) }
    },
  }),
  route({
    id: 'putTools',
    method: 'PUT',
    path: '/v1/agents/:agent/servers/:server/tools',
    tag,
    needs: 'admin',
    summary: 'Put the tools that an MCP server lists in place of those that the agent has of it',
    description:
      'The caller has asked the server. All of the tools are put, or none; modes that were set by hand stay.',
    params: serverParamsSchema,
    body: toolsBodySchema,
    bodyBytesMax: limits.httpBodyBytesMax,
    responses: { 200: { description: 'What became of them.', schema: syncedToolsSchema } },
    async handle({ client, params: { agent, server }, body: { tools, include } }) {
      const options = include === undefined ? {} : { include }
      return { body: await client.items.sync(agent, server, tools, options) }
    },
  }),
  route({
    id: 'searchContextItems',
    method: 'POST',
    path: '/v1/agents/:agent/items/search',
    tag,
    needs: 'read',
    summary: 'Which of some items of an agent a query is about, whatever their modes are',
    description: 'What has no vectors yet is embedded first. A context does this by itself: this tries it out.',
    params: agentParamsSchema,
    body: selectionBodySchema,
    responses: { 200: { description: 'What would be selected, best first.', schema: selectedItemsSchema } },
    async handle({ client, params: { agent }, body: { query, items, options } }) {
      return { body: { items: await client.items.searchContextItems(agent, query, items, options), nextCursor: null } }
    },
  }),
]
