import type { SummaryNode } from '@heddle/client/interface'
import { comparePositions, type Message, type Position, type TreeNode, topOfTree } from '@heddle/core'
import {
  type Compaction,
  type ContextStateRow,
  loadKeptCompactions,
  loadKeptLanes,
  loadLeaves,
  loadMessagesById,
  type ThreadRow,
  type Tx,
} from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import { compactionOf } from './prune-plan.js'

/** A summary and its range: the covered messages after `after` (null: from the first), up to `to`. */
export interface TreePart {
  readonly id: string
  readonly kind: 'whole' | 'part' | 'leaf'
  readonly parent: string | null
  readonly children: readonly string[]
  readonly after: Position | null
  readonly to: Position
}

/** The summary of a thread in one lane, with the parts that it was made from. */
export interface SummaryTree {
  readonly thread: ThreadRow
  readonly state: ContextStateRow
  readonly lane: NonNullable<SummaryNode['lane']>
  /** Each before its parts. */
  readonly parts: readonly TreePart[]
  /** The last message that a part covers; null if it was erased. */
  lastOf(tx: Tx, part: TreePart): Promise<Message | null>
}

/**
 * The summaries in force: that of the thread's own settings, then those of the budgets, models and strategies that requests
 * asked for, the latest first.
 *
 * @throws PermanentError `NOT_FOUND` for an unknown thread
 */
export async function loadSummaryTrees(tx: Tx, parts: EngineContext, name: string): Promise<SummaryTree[]> {
  const own = await compactionOf(tx, parts, { thread: name })
  const rows = await loadKeptLanes(tx, { threadId: own.thread.threadId })
  const kept = await loadKeptCompactions(tx, own, rows, parts.settings)
  const trees = await Promise.all(
    [own, ...kept].map((compaction) => loadSummaryTree(tx, compaction, compaction === own)),
  )
  return trees.filter((tree) => tree !== null)
}

/** @returns null without a summary in force */
async function loadSummaryTree(
  tx: Tx,
  { thread, lane, current: state }: Compaction,
  isOwn: boolean,
): Promise<SummaryTree | null> {
  if (state === null || state.summary === null || state.coveredTo === null) return null
  const { coveredTo } = state
  const { threadId } = thread
  // Leaves may have been cut ahead of the next compaction.
  const leaves = (await loadLeaves(tx, state)).filter(({ end }) => comparePositions(end, coveredTo) <= 0)
  const top = topOfTree(
    leaves.map(({ hash }) => hash),
    lane.tree,
  )
  const ends = leaves.map(({ end }) => end)
  const whole: TreePart = {
    id: state.id,
    kind: 'whole',
    parent: null,
    children: top.map(({ hash }) => hash),
    after: null,
    to: coveredTo,
  }
  return {
    thread,
    state,
    lane: { strategy: state.strategy, limitTokens: lane.limitTokens, isOwn },
    parts: [whole, ...partsOf(top, state.id, ends)],
    async lastOf(reader, { to }) {
      const [message] = await loadMessagesById(reader, { threadId, ids: [to.id] })
      return message ?? null
    },
  }
}

/** @param ends of the leaves below `nodes` and those after them, in order */
function partsOf(nodes: readonly TreeNode[], root: string, ends: readonly Position[]): TreePart[] {
  const found: TreePart[] = []
  let leaf = 0
  const add = ({ hash, children }: TreeNode, parent: string): void => {
    const after = ends[leaf - 1] ?? null
    const place = found.length
    if (children.length === 0) leaf++
    for (const child of children) add(child, hash)
    const to = ends[leaf - 1]
    if (to === undefined) return
    const kind = children.length === 0 ? 'leaf' : 'part'
    found.splice(place, 0, { id: hash, kind, parent, children: children.map((child) => child.hash), after, to })
  }
  for (const node of nodes) add(node, root)
  return found
}
