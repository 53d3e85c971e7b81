import type { factOperations } from '@heddle/contracts'
import type { Handlers } from '../http/handler.js'

export const factHandlers: Handlers<typeof factOperations> = {
  listFacts: ({ client, params, query }) => client.facts.list(params.agent, query),
  getFact: ({ client, params }) => client.facts.get(params.agent, params.fact),
  extractFacts: ({ client, params, body }) => client.facts.extract(params.thread, body),
  putFact: ({ client, params, body }) => client.facts.put(params.agent, params.fact, body),
  retractFact: ({ client, params }) => client.facts.retract(params.agent, params.fact),
}
