import { comparePositions, type Message, type Position, type TreeNode, topOfTree } from '@heddle/core'
import { type ContextStateRow, loadLeaves, loadMessagesById, type ThreadRow, type Tx } from '@heddle/store'
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

/** The summaries of a thread in the lane of its own settings. */
export interface SummaryTree {
  readonly thread: ThreadRow
  readonly state: ContextStateRow
  /** Each before its parts. */
  readonly parts: readonly TreePart[]
  /** The last message that a part covers; null if it was erased. */
  lastOf(tx: Tx, part: TreePart): Promise<Message | null>
}

/**
 * @returns null for a thread without a summary in force
 * @throws PermanentError `NOT_FOUND` for an unknown thread
 */
export async function loadSummaryTree(tx: Tx, parts: EngineContext, name: string): Promise<SummaryTree | null> {
  const { thread, lane, current: state } = await compactionOf(tx, parts, { thread: name })
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
