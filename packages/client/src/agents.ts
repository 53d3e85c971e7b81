import { limits, nameSchema, notFound, parse, partialSettingsSchema } from '@heddle/contracts'
import { type AgentRow, type AgentSummary, ensureProject, listAgents, loadAgent, putAgent } from '@heddle/store'
import { z } from 'zod'
import { type ClientParts, checkPageLimit, type Page, pageOf } from './options.js'

const agentBodySchema = z.strictObject({
  systemPrompt: z.string().max(limits.documentCharactersMax).optional(),
  docs: z
    .array(z.strictObject({ name: nameSchema, text: z.string().max(limits.documentCharactersMax) }))
    .max(100)
    .optional(),
  settings: partialSettingsSchema.optional(),
})
export type AgentBody = z.infer<typeof agentBodySchema>

/** Makes an agent, or gives it a new version; what is left out of the body stays as it is. */
export async function setAgent(
  { store, project, projectId }: ClientParts,
  name: string,
  body: AgentBody,
): Promise<AgentRow> {
  const checked = parse(agentBodySchema, body, 'agent')
  const agent = parse(nameSchema, name, 'agent')
  return await store.inProject(projectId, async (tx) => {
    await ensureProject(tx, { projectId, name: project })
    return await putAgent(tx, { projectId, name: agent, ...checked })
  })
}

/** @throws PermanentError `NOT_FOUND` */
export async function getAgent({ store, projectId }: ClientParts, name: string): Promise<AgentRow> {
  const agent = await store.inProject(projectId, (tx) => loadAgent(tx, { name: parse(nameSchema, name, 'agent') }))
  if (!agent) throw notFound('agent', name, 'see `heddle agents list`')
  return agent
}

export async function listAllAgents(
  { store, projectId }: ClientParts,
  { limit = 100, after }: { limit?: number; after?: string } = {},
): Promise<Page<AgentSummary>> {
  checkPageLimit(limit)
  const query = { limit, ...(after !== undefined && { afterName: after }) }
  return pageOf(await store.inProject(projectId, (tx) => listAgents(tx, query)), limit)
}
