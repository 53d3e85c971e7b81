import {
  agentBodySchema,
  agentPageSchema,
  agentParamsSchema,
  agentSchema,
  clearBodySchema,
  clearedSchema,
} from '../http/agents.js'
import { pageQuerySchema } from '../http/common.js'
import { erasureQuerySchema } from '../http/threads.js'
import { limits } from '../primitives/limits.js'
import { erasureAnswers, erasureDescription, erasureHeaders } from './erasure.js'
import { operation } from './operation.js'

const agentAnswer = { 200: { description: 'The agent.', schema: agentSchema } } as const

export const agentOperations = {
  putAgent: operation({
    method: 'PUT',
    path: '/v1/agents/:agent',
    tag: 'agents',
    needs: 'produce',
    repeat: 'idempotent',
    summary: 'Make an agent, or give it a new version',
    description:
      'What is left out of the body stays as it is, and the same body twice is one version. Without the permission admin, an agent can be made with nothing but `settings.rollingWindow`, and not changed.',
    params: agentParamsSchema,
    body: agentBodySchema,
    bodyBytesMax: limits.httpBodyBytesMax,
    answers: agentAnswer,
  }),
  getAgent: operation({
    method: 'GET',
    path: '/v1/agents/:agent',
    tag: 'agents',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'An agent in its latest version',
    params: agentParamsSchema,
    answers: agentAnswer,
  }),
  listAgents: operation({
    method: 'GET',
    path: '/v1/agents',
    tag: 'agents',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The agents by name',
    query: pageQuerySchema,
    answers: { 200: { description: 'A page of agents.', schema: agentPageSchema } },
  }),
  deleteAgent: operation({
    method: 'DELETE',
    path: '/v1/agents/:agent',
    tag: 'agents',
    needs: 'admin',
    repeat: 'once',
    summary: 'Erase an agent for good, with its threads, items and snapshots',
    description: erasureDescription,
    params: agentParamsSchema,
    query: erasureQuerySchema,
    headers: erasureHeaders,
    answers: erasureAnswers,
  }),
  clearAgent: operation({
    method: 'POST',
    path: '/v1/agents/:agent/clear',
    tag: 'agents',
    needs: 'produce',
    repeat: 'by-key',
    summary: 'Clear the windows of all threads of an agent',
    description: 'Nothing is deleted: histories still show every message, contexts only those that come from now on.',
    params: agentParamsSchema,
    body: clearBodySchema.optional(),
    headers: {
      'Idempotency-Key':
        'The same request under it again is the same clear: what was sent since stays in the windows. Another `clearedAt` under it is a conflict.',
    },
    answers: { 200: { description: 'What was cleared.', schema: clearedSchema } },
  }),
}
