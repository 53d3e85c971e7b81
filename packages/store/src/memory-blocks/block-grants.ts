import { type BlockGrantMode, limits } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { agentStands } from '../messages/tombstones.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'

/** A block of an agent, and another agent that it is shared with. The block is locked while its grants change. */
export type BlockGrantRef = Columns<'memoryBlockGrants', 'ownerId' | 'label' | 'granteeAgentId'>
export type BlockGrantRow = Columns<'memoryBlockGrants', 'version' | 'mode' | 'createdAtMs'>

const grantColumns = (tx: Tx) => tx`granted.version, granted.mode, granted.created_at as created_at_ms`

/** The latest version of a grant; null if the block was never shared with the agent. */
export async function loadBlockGrant(
  tx: Tx,
  { ownerId, label, granteeAgentId }: BlockGrantRef,
): Promise<BlockGrantRow | null> {
  const [row] = await tx<BlockGrantRow[]>`
    select ${grantColumns(tx)} from heddle.memory_block_grants as granted
    where granted.grantee_agent_id = ${granteeAgentId} and granted.owner_id = ${ownerId} and granted.label = ${label}
    order by granted.version desc limit 1`
  return row ?? null
}

/** The rights that an agent has now; null for a block that is not shared with it, or whose owner was erased. */
export async function loadGrantedMode(
  tx: Tx,
  { ownerId, label, granteeAgentId }: BlockGrantRef,
): Promise<BlockGrantMode | null> {
  const [row] = await tx<Columns<'memoryBlockGrants', 'mode'>[]>`
    select granted.mode from heddle.memory_block_grants as granted
    join heddle.agents as agent on agent.id = granted.owner_id and ${agentStands(tx)}
    where granted.grantee_agent_id = ${granteeAgentId} and granted.owner_id = ${ownerId} and granted.label = ${label}
    order by granted.version desc limit 1`
  return row?.mode ?? null
}

/** Adds the next version of a grant, and removes those beyond the limit. */
export async function insertBlockGrant(
  tx: Tx,
  { ownerId, label, granteeAgentId }: BlockGrantRef,
  { version, mode }: { readonly version: number; readonly mode: BlockGrantMode | null },
): Promise<BlockGrantRow> {
  const [row] = await tx<BlockGrantRow[]>`
    insert into heddle.memory_block_grants as granted (grantee_agent_id, owner_id, label, version, mode)
    values (${granteeAgentId}, ${ownerId}, ${label}, ${version}, ${mode})
    returning ${grantColumns(tx)}`
  if (version > limits.blockGrantVersionsMax) await removeOldVersions(tx, { ownerId, label }, [granteeAgentId])
  if (row === undefined) throw new Error('the grant is missing after it was stored')
  return row
}

type Shared = Pick<BlockGrantRef, 'ownerId' | 'label'>

/** Revokes all grants of a locked block; an erasure ends those to the agent that it takes. */
export async function revokeBlockGrants(tx: Tx, { ownerId, label }: Shared): Promise<void> {
  const revoked = await tx<Pick<BlockGrantRef, 'granteeAgentId'>[]>`
    with held as (
      select agent.id from heddle.agents as agent
      where agent.id in (select grantee_agent_id from heddle.memory_block_grants where owner_id = ${ownerId} and label = ${label})
      order by agent.id for key share of agent)
    insert into heddle.memory_block_grants (grantee_agent_id, owner_id, label, version, mode)
    select grantee_agent_id, ${ownerId}, ${label}, version + 1, null
    from (${latestOf(tx, { ownerId, label })}) as granted
    join held on held.id = granted.grantee_agent_id
    where mode is not null
    returning grantee_agent_id`
  const granteeIds = revoked.map(({ granteeAgentId }) => granteeAgentId)
  if (granteeIds.length > 0) await removeOldVersions(tx, { ownerId, label }, granteeIds)
}

/**
 * Of each grant only the latest versions are kept. The version 0 stands for the removed ones: it has the time of the first, by
 * which an erasure finds the contexts that may show the block, and says that the block was not shared, so that no context shows
 * a text by a version that is not known any more.
 *
 * @param granteeIds agents that are protected from erasure
 */
async function removeOldVersions(tx: Tx, { ownerId, label }: Shared, granteeIds: readonly string[]): Promise<void> {
  await tx`
    with grown as (
      select grantee_agent_id, max(version) - ${limits.blockGrantVersionsMax} as removed_to, min(created_at) as since
      from heddle.memory_block_grants
      where owner_id = ${ownerId} and label = ${label} and grantee_agent_id = any(${asArray(granteeIds)}::uuid[])
      group by grantee_agent_id
      having max(version) > ${limits.blockGrantVersionsMax}),
    removed as (
      delete from heddle.memory_block_grants as granted using grown
      where granted.grantee_agent_id = grown.grantee_agent_id and granted.owner_id = ${ownerId} and granted.label = ${label}
        and granted.version between 1 and grown.removed_to)
    insert into heddle.memory_block_grants (grantee_agent_id, owner_id, label, version, mode, created_at)
    select grantee_agent_id, ${ownerId}, ${label}, 0, null, since from grown
    on conflict do nothing`
}

export type NamedBlockGrant = BlockGrantRow & { readonly to: string }

/** The agents that a block is shared with, by name. */
export async function listBlockGrants(tx: Tx, shared: Shared): Promise<readonly NamedBlockGrant[]> {
  return await tx<NamedBlockGrant[]>`
    select ${grantColumns(tx)}, agent.name as to
    from (${latestOf(tx, shared)}) as granted
    join heddle.agents as agent on agent.id = granted.grantee_agent_id and ${agentStands(tx)}
    where granted.mode is not null
    order by agent.name collate "C"`
}

/** A grant with the names of its block, its owner and the other agent. */
export type AgentBlockGrant = NamedBlockGrant & { readonly owner: string; readonly label: string }

/** A page of the grants that an agent gave and has, by owner, label and other agent. */
export async function listBlockGrantsOfAgent(
  tx: Tx,
  {
    agentId,
    after,
    limit,
  }: {
    readonly agentId: string
    readonly after: Pick<AgentBlockGrant, 'owner' | 'label' | 'to'> | undefined
    readonly limit: number
  },
): Promise<readonly AgentBlockGrant[]> {
  return await tx<AgentBlockGrant[]>`
    select ${grantColumns(tx)}, agent.name as owner, granted.label, grantee.name as to
    from (
      select distinct on (grantee_agent_id, owner_id, label) *
      from heddle.memory_block_grants
      where grantee_agent_id = ${agentId} or owner_id = ${agentId}
      order by grantee_agent_id, owner_id, label, version desc) as granted
    join heddle.agents as agent on agent.id = granted.owner_id and ${agentStands(tx)}
    join (
      select agent.id, agent.name from heddle.agents as agent where ${agentStands(tx)}
    ) as grantee on grantee.id = granted.grantee_agent_id
    where granted.mode is not null
      and ${
        after === undefined
          ? tx`true`
          : tx`
              (agent.name collate "C", granted.label collate "C", grantee.name collate "C")
                > (${after.owner}, ${after.label}, ${after.to})`
      }
    order by agent.name collate "C", granted.label collate "C", grantee.name collate "C"
    limit ${limit}`
}

/**
 * The agents that a block was ever shared with, and the blocks that were ever shared with an agent. Other grants to the agent
 * are counted after the transaction, so that together they do not exceed the limit.
 */
export async function countBlockGrants(
  tx: Tx,
  { ownerId, label, granteeAgentId }: BlockGrantRef,
): Promise<{ readonly ofBlock: number; readonly toAgent: number }> {
  await tx`select from heddle.agents where id = ${granteeAgentId} for no key update`
  const [row] = await tx<{ ofBlock: number; toAgent: number }[]>`
    select
      (select count(distinct grantee_agent_id)::integer from heddle.memory_block_grants
        where owner_id = ${ownerId} and label = ${label}) as of_block,
      (select count(distinct (owner_id, label))::integer from heddle.memory_block_grants
        where grantee_agent_id = ${granteeAgentId}) as to_agent`
  return row ?? { ofBlock: 0, toAgent: 0 }
}

function latestOf(tx: Tx, { ownerId, label }: Shared) {
  return tx`
    select distinct on (grantee_agent_id) grantee_agent_id, version, mode, created_at
    from heddle.memory_block_grants
    where owner_id = ${ownerId} and label = ${label}
    order by grantee_agent_id, version desc`
}
