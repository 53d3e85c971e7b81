import type { Receipt, ReceiptEntry } from '@heddle/contracts'
import { rawCost } from '../compaction/costs.js'
import type { Message } from '../conversation/message.js'
import { countNeutralMessage } from '../formats/index.js'
import { type Counting, countLine } from '../history/counting.js'
import type { History } from '../history/history.js'
import type { Line } from '../history/line.js'
import type { FittedHistory } from '../strategies/strategy.js'
import type { BuildInput } from './input.js'
import { includedItem, includedReason } from './item-receipt.js'
import { memoryEntry, memoryReason } from './memory-section.js'
import type { FixedSection } from './section.js'

/** Incremented when the same input renders differently, so that an old receipt is not taken for a current one. */
export const RENDERER_VERSION = 6

const SUMMARY_REASON = 'the summary of the covered messages'

export interface SummaryPart {
  readonly tokens: number
}

/** Receipt lines for the history; each eligible message is in exactly one of them. */
export function historyEntries(
  { history, state }: Pick<FittedHistory, 'history' | 'state'>,
  summary: SummaryPart | null,
  input: BuildInput,
  counting: Counting,
): ReceiptEntry[] {
  const entries: ReceiptEntry[] = []
  for (const [at, line] of history.lines.entries()) {
    if (at === history.summaryAt && summary) entries.push(summaryEntry(summary))
    entries.push(...sharedEntries(line, countLine(line, counting), input))
  }
  if (history.summaryAt >= history.lines.length && summary) entries.push(summaryEntry(summary))
  return [...entries, ...absentEntries(history, input), ...unloadedEntries(input, state?.summary != null)]
}

export function fixedEntries(section: FixedSection, input: BuildInput): ReceiptEntry[] {
  const { name, messages, items = [], tools = [], memories = [], blocks = [], lines = [], reason, isCut } = section
  const shown = messages.map((message, index) => {
    const item = items[index]
    const memory = memories[index]
    const block = blocks[index]
    return {
      section: name,
      mode: isCut || memory?.isExcerpt ? ('elided' as const) : ('raw' as const),
      count: 0,
      role: message.role,
      tokens: countNeutralMessage(input.format, message, input.count),
      ...(item !== undefined && { item: includedItem(item) }),
      ...(memory !== undefined && { memory: memoryEntry(memory) }),
      ...(block !== undefined && { block: block.block }),
      reason:
        item === undefined
          ? ((memory && memoryReason(memory)) ?? block?.reason ?? reason)
          : includedReason(item, isCut ? reason : null),
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
  // Their tokens are those of the message.
  const ofLines = lines.map((line) => ({ section: name, mode: 'raw' as const, count: 0, tokens: 0, ...line }))
  return [...shown, ...beside, ...ofLines]
}

function summaryEntry(summary: SummaryPart): ReceiptEntry {
  return {
    section: 'history',
    mode: 'raw',
    count: 0,
    role: 'system',
    tokens: summary.tokens,
    reason: SUMMARY_REASON,
  }
}

interface KnownEntries {
  readonly tokens: number
  /** Of the first message. */
  readonly reference: string
  readonly entries: ReceiptEntry[]
}

/** The last entries of each line. Contexts of a growing thread share lines, and then their entries as well. */
const known = new WeakMap<Line, KnownEntries>()

function sharedEntries(line: Line, tokens: number, input: BuildInput): ReceiptEntry[] {
  const first = line.sources[0]?.message
  // The entries of several messages depend on the counter as well, and those of another thread on its name.
  if (first === undefined || line.sources.length > 1 || first.origin !== undefined)
    return lineEntries(line, tokens, input)
  const reference = input.reference(first)
  const before = known.get(line)
  if (before?.tokens === tokens && before.reference === reference) return before.entries
  const entries = lineEntries(line, tokens, input)
  known.set(line, { tokens, reference, entries })
  return entries
}

/** Divides the tokens of a line made of several messages; the first entry gets the remainder. */
function lineEntries(line: Line, tokens: number, input: BuildInput): ReceiptEntry[] {
  if (line.sources.length === 0) {
    return [
      {
        section: 'history',
        mode: 'raw',
        count: 0,
        role: line.neutral.role,
        tokens,
        reason: 'placeholder for a missing result',
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
  return line.sources.flatMap(({ message, fate, asText }, index) => {
    const entry: ReceiptEntry = {
      section: 'history',
      mode: asText ? 'result-as-text' : fate.mode,
      ...accountOf(message, input),
      role: message.role,
      tokens: index === 0 ? left : (shares[index - 1] ?? 0),
      reason: fate.reason,
    }
    return message.origin?.standsFor ? summaryOfThread(entry) : [entry]
  })
}

/** The summary of one thread among several, and the messages that it replaces. */
function summaryOfThread({ role, tokens, ...covered }: ReceiptEntry): ReceiptEntry[] {
  const { section, mode, thread } = covered
  return [
    { section, mode, count: 0, ...(thread !== undefined && { thread }), role, tokens, reason: SUMMARY_REASON },
    { ...covered, mode: 'covered', tokens: 0, reason: 'summarized' },
  ]
}

/** The message of a line, or the number of messages if the line is the summary of one thread among several. */
function accountOf(message: Message, input: BuildInput) {
  const { origin } = message
  const ofThread = origin === undefined ? {} : { thread: origin.thread }
  if (origin?.standsFor) return { count: origin.standsFor.count, ...ofThread, tokensRaw: origin.standsFor.tokens }
  const { seq, id } = origin ?? message
  // A restored message is named by the id of the message that it shows, which is the id that callers know.
  const messageId = message.restores?.id ?? id
  const place = { count: 1, fromSeq: seq, toSeq: seq, ...ofThread, messageId, reference: input.reference(message) }
  return { ...place, tokensRaw: rawCost(message) }
}

/**
 * Groups messages with the same outcome and consecutive sequence numbers into one line, so that receipts stay small.
 */
function absentEntries(history: History, input: BuildInput): ReceiptEntry[] {
  const entries: ReceiptEntry[] = []
  const lastOf = new Map<string | undefined, ReceiptEntry>()
  for (const { message, fate } of history.absent) {
    const entry: ReceiptEntry = {
      section: 'history',
      mode: fate.mode,
      ...accountOf(message, input),
      tokens: 0,
      reason: fate.reason,
    }
    const last = lastOf.get(entry.thread)
    if (fate.mode === 'removed') entry.role = message.role
    else {
      delete entry.messageId
      delete entry.reference
      if (last !== undefined && joins(last, entry)) {
        last.count++
        last.toSeq = message.origin?.seq ?? message.seq
        last.tokensRaw = (last.tokensRaw ?? 0) + (entry.tokensRaw ?? 0)
        continue
      }
    }
    entries.push(entry)
    lastOf.set(entry.thread, entry)
  }
  return entries
}

function joins(last: ReceiptEntry, { mode, reason, fromSeq }: ReceiptEntry): boolean {
  return last.mode === mode && last.reason === reason && last.toSeq !== undefined && fromSeq === last.toSeq + 1
}

const NO_ROOM_FOR_SUMMARY = 'the summary that replaces it did not fit'

/** @param isSummarized whether the context contains the summary that covers them; default true */
export function unloadedEntries(input: BuildInput, isSummarized = true): ReceiptEntry[] {
  return input.unloaded
    .filter((range) => range.count > 0)
    .map(({ tokens, ...range }) => {
      const isLost = range.mode === 'covered' && !isSummarized
      const fate = isLost ? { mode: 'left-out' as const, reason: NO_ROOM_FOR_SUMMARY } : {}
      return { section: 'history', ...range, ...fate, tokens: 0, tokensRaw: tokens }
    })
}

/** Most contexts have no items and no memories; their receipts omit these sections. */
const OPTIONAL_SECTIONS: ReadonlySet<string> = new Set([
  'rules',
  'references',
  'tools',
  'selected',
  'memories',
  'blocks',
  'block-changes',
  'facts',
  'fact-changes',
  'ledger',
])

export function sectionTotals(entries: readonly ReceiptEntry[], order: readonly string[]): Receipt['sections'] {
  return order.flatMap((name) => {
    const own = entries.filter((entry) => entry.section === name)
    if (own.length === 0 && OPTIONAL_SECTIONS.has(name)) return []
    const shown = own.filter((entry) => !['covered', 'removed', 'left-out'].includes(entry.mode))
    return {
      name,
      tokens: own.reduce((sum, entry) => sum + entry.tokens, 0),
      count: shown.length,
    }
  })
}
