import type { MemoryEntry, Receipt, ReceiptEntry } from '@heddle/contracts'
import { limitTokens } from '../compaction/lane.js'
import { countNeutralMessage } from '../formats/index.js'
import { type ChosenMemories, chooseMemories, type Memory, memoryLimits, memoryMessage } from '../memories/index.js'
import type { BuildInput } from './input.js'
import type { FixedSection } from './section.js'

/** Maximum share of the limit for memories, whatever the request allows. */
const MEMORIES_SHARE = 0.25
/** Omitted memories named one by one on receipt lines; the rest are counted. */
const LEFT_OUT_NAMED_MAX = 20

/** Memories related to the request that the context would not show otherwise; null if there are no memories. */
export function memorySection(input: BuildInput): FixedSection | null {
  const { chosen } = choose(input)
  if (chosen.length === 0) return null
  return {
    name: 'memories',
    messages: chosen.map(memoryMessage),
    memories: chosen,
    reason: 'recalled',
    isOptional: true,
  }
}

function choose({ memories, settings, format, count }: BuildInput): ChosenMemories {
  if (memories === undefined) return { chosen: [], leftOut: [] }
  const { found, limits, held } = memories
  return chooseMemories({
    found,
    limit: limits.limit,
    minScore: limits.minScore,
    tokensMax: Math.min(limits.tokensMax, Math.floor(limitTokens(settings) * MEMORIES_SHARE)),
    cost: (memory) => countNeutralMessage(format, memoryMessage(memory), count),
    isHeld: ({ messageId }) => held.has(messageId),
  })
}

/** The sections without memories of messages that the fitted history already shows. */
export function withoutHeld(sections: readonly FixedSection[], held: ReadonlySet<string>): FixedSection[] {
  return sections.map((section) => {
    const { memories } = section
    if (memories === undefined || !memories.some(({ messageId }) => held.has(messageId))) return section
    const left = memories.filter(({ messageId }) => !held.has(messageId))
    return { ...section, memories: left, messages: left.map(memoryMessage) }
  })
}

/** Ids of the messages of its thread that a context shows, whole, condensed or shortened. */
export function heldMessages({ entries }: Pick<Receipt, 'entries'>): Set<string> {
  const absent: readonly ReceiptEntry['mode'][] = ['removed', 'covered', 'left-out']
  const shown = entries.filter(({ mode }) => !absent.includes(mode))
  return new Set(shown.flatMap(({ messageId }) => (messageId === undefined ? [] : [messageId])))
}

export function memoryEntry({ messageId, thread, reference, score, atMs }: Memory): MemoryEntry {
  return { messageId, thread, reference, score, at: new Date(atMs).toISOString() }
}

export function memoryReason({ isOwn, thread, isExcerpt, isInstruction }: Memory): string {
  const from = isOwn ? 'recalled from outside the window' : `recalled from thread "${thread}"`
  if (isInstruction) return `${from}; a lasting instruction`
  return isExcerpt ? `${from}; the part related to the request` : from
}

/** Receipt lines for memories that were found but are not shown, with the reason. */
export function leftOutMemories(sections: readonly FixedSection[], input: BuildInput): ReceiptEntry[] {
  const shown = new Set(sections.flatMap(({ memories = [] }) => memories.map(({ messageId }) => messageId)))
  const { chosen, leftOut } = choose(input)
  const crowdedOut = chosen
    .filter(({ messageId }) => !shown.has(messageId))
    .map((memory) => ({ memory, reason: 'it did not fit' }))
  const all = [...crowdedOut, ...leftOut]
  const line = (fields: Partial<ReceiptEntry>, reason: string): ReceiptEntry => ({
    section: 'memories',
    mode: 'left-out',
    count: 0,
    tokens: 0,
    ...fields,
    reason,
  })
  const more = all.length - LEFT_OUT_NAMED_MAX
  return [
    ...all
      .slice(0, LEFT_OUT_NAMED_MAX)
      .map(({ memory, reason }) => line({ role: memory.role, memory: memoryEntry(memory) }, reason)),
    ...(more > 0 ? [line({}, `${more} more memories were left out`)] : []),
  ]
}

export function memoriesOf({ memories }: BuildInput): Pick<Receipt, 'memories'> {
  return memories === undefined ? {} : { memories: memories.outcome }
}

export function memoryNotes({ memories, request, settings }: BuildInput): string[] {
  if (memories === undefined) return isOutsideScope(request, settings) ? ['memories are outside of the scope'] : []
  const { skipped, degraded } = memories.outcome
  return [
    ...(skipped === null ? [] : [`no memories were recalled: ${skipped}`]),
    ...(degraded === null ? [] : [`memories were recalled by words: ${degraded}`]),
  ]
}

/** Whether only the scope prevents memories. */
function isOutsideScope({ scope, ...request }: BuildInput['request'], settings: BuildInput['settings']): boolean {
  return scope?.memories === false && memoryLimits(request, settings) !== null
}
