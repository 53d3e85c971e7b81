import type { Client } from '@heddle/client/interface'
import {
  agentBodySchema,
  agentPageSchema,
  agentParamsSchema,
  agentSchema,
  clearBodySchema,
  clearedSchema,
  limits,
  pageQuerySchema,
  permissionsOf,
} from '@heddle/contracts'
import { readKey } from '../http/idempotency.js'
import { isoTime, pageOptions, type Route, route } from '../http/route.js'
import { makeNewAgent } from './new-agent.js'

type Agent = Awaited<ReturnType<Client['agents']['get']>>
const tag = 'agents'
const agentResponse = { 200: { description: 'The agent.', schema: agentSchema } }

export const agentRoutes: readonly Route[] = [
  route({
    id: 'putAgent',
    method: 'PUT',
    path: '/v1/agents/:agent',
    tag,
    needs: 'produce',
    summary: 'Make an agent, or give it a new version',
    description:
      'What is left out of the body stays as it is, and the same body twice is one version. Without the permission admin, an agent can be made with nothing but `settings.rollingWindow`, and not changed.',
    params: agentParamsSchema,
    body: agentBodySchema,
    bodyBytesMax: limits.httpBodyBytesMax,
    responses: agentResponse,
    async handle({ client: { agents }, role, params: { agent }, body }) {
      const isAdmin = permissionsOf[role].includes('admin')
      return { body: toAgent(await (isAdmin ? agents.put(agent, body) : makeNewAgent(agents, agent, { body, role }))) }
    },
  }),
  route({
    id: 'getAgent',
    method: 'GET',
    path: '/v1/agents/:agent',
    tag,
    needs: 'read',
    summary: 'An agent in its latest version',
    params: agentParamsSchema,
    responses: agentResponse,
    async handle({ client, params }) {
      return { body: toAgent(await client.agents.get(params.agent)) }
    },
  }),
  route({
    id: 'listAgents',
    method: 'GET',
    path: '/v1/agents',
    tag,
    needs: 'read',
    summary: 'The agents by name',
    query: pageQuerySchema,
    responses: { 200: { description: 'A page of agents.', schema: agentPageSchema } },
    async handle({ client, query }) {
      const { items, nextCursor } = await client.agents.list(pageOptions(query))
      const agents = items.map(({ lastMessageAtMs, lastClearedAtMs, createdAtMs, ...agent }) => ({
        ...agent,
        lastMessageAt: isoTime(lastMessageAtMs),
        lastClearedAt: isoTime(lastClearedAtMs),
        createdAt: isoTime(createdAtMs),
      }))
      return { body: { items: agents, nextCursor } }
    },
  }),
  route({
    id: 'clearAgent',
    method: 'POST',
    path: '/v1/agents/:agent/clear',
    tag,
    needs: 'produce',
    summary: 'Clear the windows of all threads of an agent',
    description: 'Nothing is deleted: histories still show every message, contexts only those that come from now on.',
    params: agentParamsSchema,
    body: clearBodySchema.optional(),
    headers: {
      'Idempotency-Key':
        'The same request under it again is the same clear: what was sent since stays in the windows. Another `clearedAt` under it is a conflict.',
    },
    responses: { 200: { description: 'What was cleared.', schema: clearedSchema } },
    async handle({ client, params, body = {}, headers }) {
      const idempotencyKey = readKey(headers['idempotency-key'])
      return {
        body: await client.agents.clear(params.agent, {
          ...body,
          ...(idempotencyKey !== undefined && { idempotencyKey }),
        }),
      }
    },
  }),
]

function toAgent({ lastClearedAtMs, createdAtMs, ...agent }: Agent) {
  return { ...agent, lastClearedAt: isoTime(lastClearedAtMs), createdAt: isoTime(createdAtMs) }
}
