import { agentParamsSchema } from '../http/agents.js'
import { threadParamsSchema } from '../http/threads.js'
import {
  extractedFactsSchema,
  factBodySchema,
  factExtractionSchema,
  factPageSchema,
  factParamsSchema,
  factQuerySchema,
  factSchema,
} from '../recall/facts.js'
import { operation } from './operation.js'

const factAnswer = { 200: { description: 'The fact.', schema: factSchema } } as const

export const factOperations = {
  listFacts: operation({
    method: 'GET',
    path: '/v1/agents/:agent/facts',
    tag: 'facts',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The known facts of an agent and its threads, those recorded last first',
    description:
      'With `asOf`, those that held at that moment; a page may then have fewer than `limit`. With `query`, the facts with words of a question, best first, in one page.',
    params: agentParamsSchema,
    query: factQuerySchema,
    answers: { 200: { description: 'A page of facts.', schema: factPageSchema } },
  }),
  getFact: operation({
    method: 'GET',
    path: '/v1/agents/:agent/facts/:fact',
    tag: 'facts',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'One fact, with what replaced it and what it is in conflict with',
    params: factParamsSchema,
    answers: factAnswer,
  }),
  extractFacts: operation({
    method: 'POST',
    path: '/v1/threads/:thread/facts',
    tag: 'facts',
    needs: 'produce',
    repeat: 'idempotent',
    summary: 'Read facts from the messages of a thread, by rules, and record them',
    description:
      'Only from the typed words of people: not from models, tools, programs and recalled texts, and no sentence with a secret. A message that was read before adds nothing. `nextSeq` is the `afterSeq` of the next call.',
    params: threadParamsSchema,
    body: factExtractionSchema.optional(),
    answers: { 200: { description: 'Counts of messages and facts.', schema: extractedFactsSchema } },
  }),
  putFact: operation({
    method: 'PUT',
    path: '/v1/agents/:agent/facts/:fact',
    tag: 'facts',
    needs: 'produce',
    repeat: 'idempotent',
    summary: 'Record a fact, or correct another one by it',
    description:
      'The caller gives the id. A fact never changes: another content under a known id is a conflict. A text with the shape or the name of a secret is refused.',
    params: factParamsSchema,
    body: factBodySchema,
    answers: factAnswer,
  }),
  retractFact: operation({
    method: 'DELETE',
    path: '/v1/agents/:agent/facts/:fact',
    tag: 'facts',
    needs: 'produce',
    repeat: 'idempotent',
    summary: 'Retract a fact: it held at no time',
    description: 'Its row stays, marked as retracted. Erase its source to have nothing left of it.',
    params: factParamsSchema,
    answers: factAnswer,
  }),
}
