import type { Receipt, ReceiptEntry } from '@heddle/contracts'
import { rawCost } from '../compaction/costs.js'
import { countNeutralMessage } from '../formats/index.js'
import { type Counting, countLine } from './counting.js'
import type { History, Line } from './history.js'
import type { BuildInput } from './input.js'
import { includedItem, includedReason } from './item-receipt.js'
import type { FixedSection } from './sections.js'

/** Rises when the same input would be rendered in another way, so that an old receipt is not taken for a new one. */
export const RENDERER_VERSION = 5

export interface SummaryPart {
  readonly tokens: number
}

/** The lines of the receipt for the history, each eligible message in exactly one of them. */
export function historyEntries(
  history: History,
  summary: SummaryPart | null,
  input: BuildInput,
  counting: Counting,
): ReceiptEntry[] {
  const entries: ReceiptEntry[] = []
  for (const [at, line] of history.lines.entries()) {
    if (at === history.summaryAt && summary) entries.push(summaryEntry(summary))
    entries.push(...lineEntries(line, countLine(line, counting), input))
  }
  if (history.summaryAt >= history.lines.length && summary) entries.push(summaryEntry(summary))
  return [...entries, ...absentEntries(history, input), ...unloadedEntries(input)]
}

export function fixedEntries(section: FixedSection, input: BuildInput): ReceiptEntry[] {
  const { name, messages, items = [], tools = [], reason, isCut } = section
  const shown = messages.map((message, index) => {
    const item = items[index]
    return {
      section: name,
      mode: isCut ? ('elided' as const) : ('raw' as const),
      count: 0,
      role: message.role,
      tokens: countNeutralMessage(input.format, message, input.count),
      ...(item !== undefined && { item: includedItem(item) }),
      reason: item === undefined ? reason : includedReason(item, isCut ? reason : null),
    }
  })
  const beside = tools.map(({ item, tokens }) => ({
    section: name,
    mode: 'raw' as const,
    count: 0,
    tokens,
    item: includedItem(item),
    reason: includedReason(item, null),
  }))
  return [...shown, ...beside]
}

function summaryEntry(summary: SummaryPart): ReceiptEntry {
  return {
    section: 'history',
    mode: 'raw',
    count: 0,
    role: 'system',
    tokens: summary.tokens,
    reason: 'the summary of what is covered',
  }
}

/** A line made of several messages shares its tokens out: the first carries what the others do not account for. */
function lineEntries(line: Line, tokens: number, input: BuildInput): ReceiptEntry[] {
  if (line.sources.length === 0) {
    return [
      {
        section: 'history',
        mode: 'raw',
        count: 0,
        role: line.neutral.role,
        tokens,
        reason: 'stands for a missing result',
      },
    ]
  }
  const rest = line.sources
    .slice(1)
    .map(({ message, fate }) => Math.min(tokens, fate.mode === 'raw' ? message.tokens : input.count(fate.content)))
  let left = tokens
  const shares = rest.map((share) => {
    const given = Math.min(share, left)
    left -= given
    return given
  })
  return line.sources.map(({ message, fate, asText }, index) => ({
    section: 'history',
    mode: asText ? 'result-as-text' : fate.mode,
    count: 1,
    fromSeq: message.seq,
    toSeq: message.seq,
    messageId: message.id,
    reference: input.reference(message),
    role: message.role,
    tokens: index === 0 ? left : (shares[index - 1] ?? 0),
    tokensRaw: rawCost(message),
    reason: fate.reason,
  }))
}

/** Messages that share a fate and follow one another by sequence are one line: a receipt stays small. */
function absentEntries(history: History, input: BuildInput): ReceiptEntry[] {
  const entries: ReceiptEntry[] = []
  for (const { message, fate } of history.absent) {
    const last = entries.at(-1)
    const joins = last?.mode === fate.mode && last.reason === fate.reason && message.seq === (last.toSeq ?? 0) + 1
    if (last && joins && fate.mode !== 'removed') {
      last.count++
      last.toSeq = message.seq
      last.tokensRaw = (last.tokensRaw ?? 0) + rawCost(message)
      continue
    }
    entries.push({
      section: 'history',
      mode: fate.mode,
      count: 1,
      fromSeq: message.seq,
      toSeq: message.seq,
      ...(fate.mode === 'removed' && {
        messageId: message.id,
        reference: input.reference(message),
        role: message.role,
      }),
      tokens: 0,
      tokensRaw: rawCost(message),
      reason: fate.reason,
    })
  }
  return entries
}

export function unloadedEntries(input: BuildInput): ReceiptEntry[] {
  return input.unloaded
    .filter((range) => range.count > 0)
    .map((range) => ({
      section: 'history',
      mode: range.mode,
      count: range.count,
      tokens: 0,
      tokensRaw: range.tokens,
      reason: range.reason,
    }))
}

/** Most agents have no items: then a receipt says nothing of them. */
const ITEM_SECTIONS: ReadonlySet<string> = new Set(['rules', 'references', 'tools', 'selected'])

export function sectionTotals(entries: readonly ReceiptEntry[], order: readonly string[]): Receipt['sections'] {
  return order.flatMap((name) => {
    const own = entries.filter((entry) => entry.section === name)
    if (own.length === 0 && ITEM_SECTIONS.has(name)) return []
    const shown = own.filter((entry) => !['covered', 'removed', 'left-out'].includes(entry.mode))
    return {
      name,
      tokens: own.reduce((sum, entry) => sum + entry.tokens, 0),
      count: shown.length,
    }
  })
}
