import { fingerprint } from '../conversation/fingerprint.js'
import { chance, type TreeShape } from './leaves.js'

/** A part of a conversation: a leaf, or some consecutive parts. */
export interface TreeNode {
  /** Hash of its contents: a part whose messages did not change keeps its hash. */
  readonly hash: string
  /**
   * Empty for a leaf, whose summary is made from its messages; otherwise the summary is made from those of the
   * children.
   */
  readonly children: readonly TreeNode[]
}

/** A part filled to half of the fan-out ends early with this probability. */
const EARLY_CUT_CHANCE = 0.3

/**
 * Combines leaves, level by level. A full part never changes when more leaves follow.
 *
 * @param leafHashes in conversation order
 * @returns the parts that belong to no larger one yet, oldest first: the inputs of the whole summary. Their number
 * grows with the logarithm of the leaves
 */
export function topOfTree(leafHashes: readonly string[], { fanOut }: TreeShape): TreeNode[] {
  const tails: TreeNode[][] = []
  let level: TreeNode[] = leafHashes.map((hash) => ({ hash, children: [] }))
  while (level.length > 0) {
    const { full, rest } = group(level, fanOut)
    tails.unshift(rest)
    level = full
  }
  return tails.flat()
}

function group(nodes: readonly TreeNode[], fanOut: number): { full: TreeNode[]; rest: TreeNode[] } {
  const least = Math.max(2, Math.ceil(fanOut / 2))
  const full: TreeNode[] = []
  let rest: TreeNode[] = []
  for (const node of nodes) {
    rest.push(node)
    if (rest.length < least || (rest.length < fanOut && chance(node.hash) >= EARLY_CUT_CHANCE)) continue
    full.push({ hash: fingerprint(JSON.stringify(rest.map(({ hash }) => hash))), children: rest })
    rest = []
  }
  return { full, rest }
}
