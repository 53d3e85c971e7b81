import type { ReceiptEntry } from '@heddle/contracts'
import { type BlockLine, type BlockLines, blockLines } from '../blocks/index.js'
import { limitTokens } from '../compaction/lane.js'
import { countNeutralMessage } from '../formats/index.js'
import type { BuildInput } from './input.js'
import type { FixedSection } from './section.js'

/** Share of the limit for the blocks of the prefix, and once more for their changes, when there is no allocation. */
const BLOCKS_SHARE = 0.25

/** Memory blocks as of the last compaction, and their changes since, which follow the history so that the prefix stays. */
export function blockSections(input: BuildInput): FixedSection[] {
  const { stable, changes } = linesOf(input)
  return [
    { name: 'blocks' as const, ...sectionOf(stable) },
    { name: 'block-changes' as const, ...sectionOf(changes) },
  ].filter(({ messages }) => messages.length > 0)
}

/** Receipt lines for blocks that did not fit. */
export function leftOutBlocks(input: BuildInput): ReceiptEntry[] {
  return linesOf(input).leftOut.map((block) => ({
    section: 'blocks',
    mode: 'left-out',
    count: 0,
    tokens: 0,
    block,
    reason: 'it did not fit',
  }))
}

function linesOf({ blocks = [], settings, format, count }: BuildInput): BlockLines {
  const tokensMax = settings.sections.allocations.blocks ?? Math.floor(limitTokens(settings) * BLOCKS_SHARE)
  return blockLines(blocks, { tokensMax, cost: (message) => countNeutralMessage(format, message, count) })
}

function sectionOf(blocks: readonly BlockLine[]) {
  return { messages: blocks.map(({ message }) => message), blocks, reason: 'memory blocks' }
}
