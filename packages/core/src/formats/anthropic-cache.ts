import type { AnthropicBlock, AnthropicMessage, AnthropicText } from '@heddle/contracts'
import type { RenderOptions } from './format.js'

/** Anthropic's limit of cache marks per request. */
export const CACHE_MARKS_MAX = 4
/** Number of blocks before a mark in which the provider searches for an earlier cache entry. */
const LOOK_BACK_BLOCKS = 20

interface Turns {
  readonly system: readonly AnthropicText[]
  readonly turns: readonly AnthropicMessage[]
  /** The blocks that each neutral message became. */
  readonly placed: readonly (readonly AnthropicBlock[])[]
}

/**
 * Marks the prefixes that the provider should cache: at the end of the system prompt, after each stable part, and once
 * more before the last of them, within the look-back range of a request that adds many blocks at once. Nothing after
 * the stable part is marked: it changes at each request, so it would be written to the cache and never read.
 */
export function withCacheMarks({ system, turns, placed }: Turns, { stableEnds = [] }: RenderOptions) {
  const ends = stableEnds.map((end) => placed.slice(0, end).findLast((blocks) => blocks.some(mayCarryMark)))
  const targets = new Set<AnthropicBlock>(ends.flatMap((blocks) => blocks?.findLast(mayCarryMark) ?? []))
  if (stableEnds.length > 0) for (const block of system.slice(-1)) targets.add(block)
  const last = [...targets].findLast((block) => !system.includes(block as AnthropicText))
  const between = last && withinLookBack(turns, last)
  if (between) targets.add(between)
  const kept = new Set([...inOrder(system, turns, targets)].slice(-CACHE_MARKS_MAX))
  return {
    system: system.map((block) => marked(block, kept)),
    turns: turns.map((turn) => ({ ...turn, content: turn.content.map((block) => marked(block, kept)) })),
  }
}

/** Reasoning cannot carry a mark. */
function mayCarryMark(block: AnthropicBlock): boolean {
  return block.type !== 'thinking' && block.type !== 'redacted_thinking'
}

function marked<Block extends AnthropicBlock>(block: Block, kept: ReadonlySet<AnthropicBlock>): Block {
  return kept.has(block) ? { ...block, cache_control: { type: 'ephemeral' as const } } : block
}

function inOrder(
  system: readonly AnthropicBlock[],
  turns: readonly AnthropicMessage[],
  wanted: ReadonlySet<AnthropicBlock>,
) {
  return [...system, ...turns.flatMap(({ content }) => content)].filter((block) => wanted.has(block))
}

function withinLookBack(turns: readonly AnthropicMessage[], last: AnthropicBlock): AnthropicBlock | undefined {
  const blocks = turns.flatMap(({ content }) => content)
  const at = blocks.indexOf(last) - LOOK_BACK_BLOCKS + 1
  return at < 1 ? undefined : blocks.slice(0, at + 1).findLast(mayCarryMark)
}
