import { type agentOperations, mayDo } from '@heddle/contracts'
import type { Handlers } from '../http/handler.js'
import { readKey } from '../http/idempotency.js'
import { erase } from './erasing.js'
import { makeNewAgent } from './new-agent.js'

export const agentHandlers: Handlers<typeof agentOperations> = {
  async putAgent({ client: { agents }, rights, params: { agent }, body }) {
    if (mayDo(rights, 'admin')) return await agents.put(agent, body)
    return await makeNewAgent(agents, agent, { body, role: rights.role })
  },
  getAgent: ({ client, params }) => client.agents.get(params.agent),
  listSettings: ({ client, params }) => client.agents.settings(params.agent),
  listCalibrations: ({ client, params }) => client.agents.calibration(params.agent),
  auditMemory: ({ client, params, query }) => client.agents.auditMemory(params.agent, query),
  listInstructions: ({ client, params }) => client.agents.instructions(params.agent),
  listAgents: ({ client, query }) => client.agents.list(query),
  deleteAgent: (request) => erase(request, (how) => request.client.agents.delete(request.params.agent, how)),
  clearAgent: ({ client, params, body, headers }) =>
    client.agents.clear(params.agent, { ...body, idempotencyKey: readKey(headers['idempotency-key']) }),
}
