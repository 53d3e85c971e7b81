import type { Message } from '../conversation/message.js'
import { summarizeExtractively } from '../summarizing/summarize.js'
import { summarizePart } from './kept-summaries.js'
import { cutLeaves, leafHash, type TreeShape } from './leaves.js'
import { type TreeNode, topOfTree } from './nodes.js'
import { leafRequest, parentRequest, wholeRequest } from './requests.js'

/**
 * Summarizes a range by its tree without a model: the result of the pipeline with the extractive summarizer. Takes time
 * linear in the messages.
 *
 * @param before summary of the messages before; null if these are the whole range
 */
export function summarizeByTree(
  covered: readonly Message[],
  shape: TreeShape,
  {
    tokensMax,
    before,
    reference,
  }: { tokensMax: number; before: string | null; reference: (message: Message) => string },
): string {
  const { leaves, open } = cutLeaves(covered, shape)
  const byHash = new Map(leaves.map((leaf) => [leafHash(leaf, shape), leaf]))
  const textOf = ({ hash, children }: TreeNode): string =>
    summarizePart(
      children.length === 0
        ? leafRequest(byHash.get(hash) ?? [], shape, { reference })
        : parentRequest(children.map(textOf), shape),
    )
  const parts = topOfTree(
    leaves.map((leaf) => leafHash(leaf, shape)),
    shape,
  ).map(textOf)
  return summarizeExtractively(
    wholeRequest(before === null ? parts : [before, ...parts], open, tokensMax, { reference }),
  )
}
