import { type Agent, type AgentSummary, ConflictError, type PartialSettings } from '@heddle/contracts'
import { agentIdOf, canonicalJson } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { erasedError } from '../messages/append-plan.js'
import { agentStands, findTombstones, shareErasureLock } from '../messages/tombstones.js'
import { isOwn } from '../sql/own-project.js'
import { assertStorable } from '../sql/text.js'

interface Times {
  readonly lastClearedAtMs: number | null
  readonly createdAtMs: number
}
export type AgentRow = Omit<Agent, 'lastClearedAt' | 'createdAt'> & Times
export type AgentSummaryRow = Omit<AgentSummary, 'lastMessageAt' | 'lastClearedAt' | 'createdAt'> &
  Times & { readonly lastMessageAtMs: number | null }

/** @returns null if there is no agent of this name */
export async function loadAgent(tx: Tx, { name }: { name: string }): Promise<AgentRow | null> {
  const [agent] = await tx<
    AgentRow[]
  >`${selectAgents(tx)} where agent.name = ${name} and ${isOwn(tx, 'agent')} and ${agentStands(tx)}`
  return agent ?? null
}

/** A page of the project's agents, ordered by name, with the totals of their threads. */
export async function listAgents(
  tx: Tx,
  { limit, afterName = '' }: { limit: number; afterName?: string },
): Promise<AgentSummaryRow[]> {
  return await tx<AgentSummaryRow[]>`
    select
      agent.id as agent_id, agent.name, agent.version, held.threads, held.messages, held.tokens_estimate,
      held.last_message_at as last_message_at_ms, agent.last_cleared_at as last_cleared_at_ms,
      agent.created_at as created_at_ms
    from heddle.agents as agent
    cross join lateral (
      select
        count(*) as threads, coalesce(sum(cursor.head_seq - cursor.base_seq - cursor.restored_count), 0)::bigint as messages,
        coalesce(sum(cursor.tokens_estimate), 0)::bigint as tokens_estimate,
        max(cursor.last_message_at) as last_message_at
      from heddle.threads as thread
      join heddle.stage_cursors as cursor on cursor.thread_id = thread.id
      where thread.agent_id = agent.id) as held
    where agent.name > ${afterName} and ${isOwn(tx, 'agent')} and ${agentStands(tx)}
    order by agent.name
    limit ${limit}`
}

export interface AgentChange {
  readonly projectId: string
  readonly name: string
  /** Omitted fields stay unchanged. */
  readonly systemPrompt?: string | undefined
  readonly docs?: readonly { name: string; text: string }[] | undefined
  readonly settings?: PartialSettings | undefined
  /** The version that the agent must have; 0: it must not exist. */
  readonly ifVersion?: number | undefined
}

/**
 * Creates an agent or adds a version. Without a change no version is added, so a repeated put is harmless.
 *
 * @throws ConflictError if the agent or the project was erased, or the agent has another version than `ifVersion`
 */
export async function putAgent(tx: Tx, change: AgentChange): Promise<AgentRow> {
  assertStorable('name', change.name)
  assertStorable('systemPrompt', change.systemPrompt)
  const { projectId, name } = change
  const agentId = agentIdOf(projectId, name)
  const [, [tombstone], , , [current]] = await Promise.all([
    shareErasureLock(tx),
    findTombstones(tx, [agentId, projectId]),
    tx`insert into heddle.projects (project_id, name) values (${projectId}, ${projectId}) on conflict do nothing`,
    // No row holds version 0: the first version is added below, like any other.
    tx`insert into heddle.agents (id, name, version) values (${agentId}, ${name}, 0) on conflict do nothing`,
    tx<
      {
        version: number
        systemPrompt: string | null
        docs: AgentRow['docs'] | null
        settings: PartialSettings | null
      }[]
    >`
      select agent.version, configured.system_prompt, configured.docs, configured.settings
      from heddle.agents as agent
      left join heddle.agent_versions as configured
        on configured.agent_id = agent.id and configured.version = agent.version
      where agent.id = ${agentId}
      for update of agent`,
  ])
  // The error rolls the inserts back.
  if (tombstone !== undefined) throw erasedError(tombstone.kind, tombstone.kind === 'agent' ? name : projectId)
  checkVersion(change, current?.version ?? 0)
  const before = {
    systemPrompt: current?.systemPrompt ?? '',
    docs: current?.docs ?? [],
    settings: current?.settings ?? {},
  }
  const after = {
    systemPrompt: change.systemPrompt ?? before.systemPrompt,
    docs: change.docs ?? before.docs,
    settings: change.settings ?? before.settings,
  }
  const version = current?.version ?? 0
  if (version === 0 || canonicalJson(before) !== canonicalJson(after)) {
    await Promise.all([
      tx`
        insert into heddle.agent_versions (agent_id, version, system_prompt, docs, settings)
        values (
          ${agentId}, ${version + 1}, ${after.systemPrompt},
          ${JSON.stringify(after.docs)}::text::json, ${JSON.stringify(after.settings)}::text::json)`,
      tx`update heddle.agents set version = ${version + 1} where id = ${agentId}`,
    ])
  }
  const [agent] = await tx<AgentRow[]>`${selectAgents(tx)} where agent.id = ${agentId}`
  if (agent === undefined) throw new Error(`agent ${agentId} is missing after its insert`)
  return agent
}

function checkVersion({ name, ifVersion }: AgentChange, version: number): void {
  if (ifVersion === undefined || ifVersion === version) return
  throw new ConflictError(`agent "${name}" has version ${version}, not ${ifVersion}: it was changed meanwhile`, {
    field: 'ifVersion',
    received: String(ifVersion),
    hint: 'Read the agent, apply the change to its current version, and send that.',
    facts: { version },
  })
}

function selectAgents(tx: Tx) {
  return tx`
    select
      agent.id as agent_id, agent.name, agent.version, configured.system_prompt, configured.docs, configured.settings,
      agent.clear_epoch, agent.last_cleared_at as last_cleared_at_ms, agent.created_at as created_at_ms
    from heddle.agents as agent
    join heddle.agent_versions as configured
      on configured.agent_id = agent.id and configured.version = agent.version`
}
