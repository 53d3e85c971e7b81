import {
  agentBodySchema,
  agentPageSchema,
  agentParamsSchema,
  agentSchema,
  clearBodySchema,
  clearedSchema,
  settingPageSchema,
} from '../http/agents.js'
import { calibrationPageSchema } from '../http/calibration.js'
import { pageQuerySchema } from '../http/common.js'
import { memoryAuditQuerySchema, memoryAuditSchema } from '../http/memory-audit.js'
import { standingInstructionPageSchema } from '../http/standing-instructions.js'
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
    summary: 'Create an agent, or a new version of it',
    description:
      'Missing fields of the body are unchanged, and the same body twice is one version. Without the permission admin, an agent can be created with nothing but `settings.rollingWindow`, and not changed.',
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
    summary: 'The latest version of an agent',
    params: agentParamsSchema,
    answers: agentAnswer,
  }),
  listSettings: operation({
    method: 'GET',
    path: '/v1/agents/:agent/settings',
    tag: 'agents',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The settings in force for an agent, and who sets each of them',
    description:
      'The agent overrides the environment and the file of the process that answers. Threads and requests override it.',
    params: agentParamsSchema,
    answers: { 200: { description: 'All settings, in one page.', schema: settingPageSchema } },
  }),
  listCalibrations: operation({
    method: 'GET',
    path: '/v1/agents/:agent/calibration',
    tag: 'agents',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'How providers count the requests of an agent beside our own counts, by model',
    description:
      'Learnt from the replies that name their contexts and report their usage; empty until a model has 20 of them.',
    params: agentParamsSchema,
    answers: { 200: { description: 'Every model with enough replies, in one page.', schema: calibrationPageSchema } },
  }),
  auditMemory: operation({
    method: 'GET',
    path: '/v1/agents/:agent/memory-audit',
    tag: 'agents',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'How much of the messages of an agent is of little use',
    description:
      'Copies, loops, outdated results, text of programs in the place of a user, and secrets, by rules, with references and no contents. A page reads the newest messages; its cursor leads to older ones.',
    params: agentParamsSchema,
    query: memoryAuditQuerySchema,
    answers: { 200: { description: 'The figures of one page.', schema: memoryAuditSchema } },
  }),
  listInstructions: operation({
    method: 'GET',
    path: '/v1/agents/:agent/instructions',
    tag: 'agents',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'Instructions of people that hold from then on, those of the newest threads first',
    description:
      'Found by rules in the messages of people, word for word, with the references by which they are pinned. One that was taken back has the moment and the message that did so. At most 500, and 8 MB of messages.',
    params: agentParamsSchema,
    answers: { 200: { description: 'All of them, in one page.', schema: standingInstructionPageSchema } },
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
    summary: 'Permanently erase an agent, with its threads, items and snapshots',
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
    description: 'Nothing is deleted: histories still show every message, contexts only later ones.',
    params: agentParamsSchema,
    body: clearBodySchema.optional(),
    headers: {
      'Idempotency-Key':
        'A repeat with the same key is the same clear: messages sent since stay in the windows. Another `clearedAt` with the same key is a conflict.',
    },
    answers: { 200: { description: 'The result of the clear.', schema: clearedSchema } },
  }),
}
