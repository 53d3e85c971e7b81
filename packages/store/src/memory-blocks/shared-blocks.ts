import type { BlockGrantMode } from '@heddle/contracts'
import { type ContextBlock, type SharedBlock, sharedContextBlock } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { agentStands } from '../messages/tombstones.js'
import type { isOwn } from '../sql/own-project.js'
import { type BlockRow, blockColumns } from './blocks.js'
import { contentOf, type OwnedBlock } from './own-blocks.js'

/** The current blocks that others share with an agent, by their owners and labels. */
export async function listSharedBlocks(tx: Tx, agentId: string): Promise<readonly OwnedBlock[]> {
  const rows = await tx<(BlockRow & { readonly sharedBy: string; readonly mode: BlockGrantMode })[]>`
    select ${blockColumns(tx)}, agent.name as shared_by, granted.mode
    from ${grantsTo(tx, agentId)}
    join heddle.memory_block_versions as made
      on made.owner_id = block.owner_id and made.label = block.label and made.version = block.version
    where granted.mode is not null and not made.removed
    order by agent.name collate "C", block.label collate "C"`
  return rows.map(({ sharedBy, mode, ...row }) => ({
    ...row,
    scope: 'agent' as const,
    shared: { by: sharedBy, mode },
  }))
}

/** Whether a block was ever shared with an agent. */
export async function hasSharedBlocks(tx: Tx, agentId: string): Promise<boolean> {
  const { count } = await tx`select from heddle.memory_block_grants where grantee_agent_id = ${agentId} limit 1`
  return count > 0
}

/** The same as of a compaction and as of now, in the order of contexts: also those whose grant was revoked since. */
export async function loadSharedBlocks(
  tx: Tx,
  agentId: string,
  compactedAt: Fragment,
): Promise<readonly ContextBlock[]> {
  const rows = await tx<(Omit<SharedBlock, 'sharer'> & { sharerName: string; sharerCreatedAtMs: number })[]>`
    select agent.name as sharer_name, agent.created_at as sharer_created_at_ms, block.label, granted.mode,
      earlier.mode as mode_before, ${contentOf(tx, 'latest')} as latest,
      case when base.version is null then null else ${contentOf(tx, 'base')} end as base
    from ${grantsTo(tx, agentId)}
    join heddle.memory_block_versions as latest
      on latest.owner_id = block.owner_id and latest.label = block.label and latest.version = block.version
    left join lateral (
      select mode from heddle.memory_block_grants as other
      where other.grantee_agent_id = ${agentId} and other.owner_id = block.owner_id and other.label = block.label
        and other.created_at <= ${compactedAt}
      order by other.version desc limit 1) as earlier on true
    left join lateral (
      select * from heddle.memory_block_versions as made
      where made.owner_id = block.owner_id and made.label = block.label and made.created_at <= ${compactedAt}
      order by made.version desc limit 1) as base on earlier.mode is not null
    where granted.mode is not null or earlier.mode is not null
    order by agent.name collate "C", block.label collate "C"`
  return rows
    .map(({ sharerName: name, sharerCreatedAtMs: createdAtMs, ...row }) =>
      sharedContextBlock({ ...row, sharer: { name, createdAtMs } }),
    )
    .filter((block) => block !== null)
}

/** The latest version of each grant to an agent, with the block and the agent that shares it, unless that was erased. */
function grantsTo(tx: Tx, agentId: string) {
  return tx`(
      select distinct on (owner_id, label) owner_id, label, mode
      from heddle.memory_block_grants
      where grantee_agent_id = ${agentId}
      order by owner_id, label, version desc) as granted
    join heddle.memory_blocks as block on block.owner_id = granted.owner_id and block.label = granted.label
    join heddle.agents as agent on agent.id = block.agent_id and ${agentStands(tx)}`
}

type Fragment = ReturnType<typeof isOwn>
