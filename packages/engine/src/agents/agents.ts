import type { Page, PageOptions } from '@heddle/client/interface'
import {
  type Agent,
  type AgentBody,
  type AgentSummary,
  agentBodySchema,
  nameSchema,
  notFound,
  parse,
} from '@heddle/contracts'
import { type AgentRow, ensureProject, listAgents, loadAgent, putAgent } from '@heddle/store'
import { type CursorList, NAME_PLACE, pageOf, placeAt } from '../setup/cursors.js'
import { isoTime } from '../setup/iso-time.js'
import { checkPageLimit, type EngineContext } from '../setup/options.js'

/**
 * Creates an agent, or a new version of it; fields that the body omits stay unchanged.
 *
 * @throws ConflictError if the agent's version is not `ifVersion`
 */
export async function setAgent(
  { store, project, projectId }: EngineContext,
  name: string,
  body: AgentBody,
): Promise<Agent> {
  const checked = parse(agentBodySchema, body, 'agent')
  const agent = parse(nameSchema, name, 'agent')
  const row = await store.inProject(projectId, async (tx) => {
    await ensureProject(tx, { projectId, name: project })
    return await putAgent(tx, { projectId, name: agent, ...checked })
  })
  return toAgent(row)
}

/** @throws PermanentError `NOT_FOUND` */
export async function getAgent({ store, projectId }: EngineContext, name: string): Promise<Agent> {
  const agent = await store.inProject(projectId, (tx) => loadAgent(tx, { name: parse(nameSchema, name, 'agent') }))
  if (!agent) throw notFound('agent', name, 'see `heddle agents list`')
  return toAgent(agent)
}

export async function listAllAgents(
  { store, projectId }: EngineContext,
  { limit = 100, ...page }: PageOptions = {},
): Promise<Page<AgentSummary>> {
  checkPageLimit(limit)
  const list: CursorList = { kind: 'agents', ownerId: projectId }
  const [afterName] = placeAt(list, page, NAME_PLACE) ?? []
  const query = { limit, afterName }
  const rows = await store.inProject(projectId, (tx) => listAgents(tx, query))
  const agents = rows.map(({ lastMessageAtMs, ...row }) => ({
    ...toAgent(row),
    lastMessageAt: isoTime(lastMessageAtMs),
  }))
  return pageOf(agents, { list, limit })
}

type Times = Pick<AgentRow, 'lastClearedAtMs' | 'createdAtMs'>

function toAgent<Row extends Times>({ lastClearedAtMs, createdAtMs, ...row }: Row) {
  return { ...row, lastClearedAt: isoTime(lastClearedAtMs), createdAt: isoTime(createdAtMs) }
}
