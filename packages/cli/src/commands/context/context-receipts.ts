import {
  addressNote,
  type ContextDiff,
  type ContextResult,
  type DiffLine,
  type HiddenReason,
  hiddenReasons,
  type ReceiptEntry,
  type Standing,
} from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { contextIdOption } from '../../options/context-options.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { type Column, formatCount, type Line, tableLines } from '../../output/table.js'
import { clientCommand } from '../declared.js'
import { labelOf } from '../items/items-owner.js'
import { fillText, nothingShown } from './context-view.js'

/** Rows of a table for people; a program gets all of them. */
const ROWS_MAX = 60
const REASON_CHARACTERS = 70
const VALUE_CHARACTERS = 40

export function registerContextReceipts(group: Command, context: CommandContext): void {
  clientCommand(group, context, {
    name: 'explain',
    description: 'explain a context line by line: why each is included, what it costs, and what was left out and why',
    arguments: [['<id>', 'the id that "context build" printed', contextIdOption('id')]],
    examples: [
      'heddle context explain 01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1',
      'heddle context explain 01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1 --json',
    ],
    async load({ contexts }, _: CommonOptions, contextId: string) {
      const { id, thread, agent, strategy, format, budget, tokensUsed, receipt } = await contexts.get(contextId)
      return { id, thread, agent, strategy, format, budget, tokensUsed, receipt }
    },
    lines: explained,
  })
  clientCommand(group, context, {
    name: 'diff',
    description: 'compare two contexts: what was added, removed, changed or moved, and the tokens by section',
    arguments: [
      ['<before>', 'the id of the first context', contextIdOption('before')],
      ['<after>', 'the id of the second context', contextIdOption('after')],
    ],
    examples: [
      'heddle context diff 01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1 01998c1e-a2f4-7d3b-9c55-3d2f6a1b7c80',
      'heddle context diff 01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1 01998c1e-a2f4-7d3b-9c55-3d2f6a1b7c80 --json',
    ],
    load: ({ contexts }, _: CommonOptions, before: string, after: string) => contexts.diff(before, after),
    lines: diffLines,
  })
}

type Explained = Pick<
  ContextResult,
  'id' | 'thread' | 'agent' | 'strategy' | 'format' | 'budget' | 'tokensUsed' | 'receipt'
>

const entryColumns: readonly Column[] = [
  { title: 'section' },
  { title: 'what' },
  { title: 'mode' },
  { title: 'score', align: 'right' },
  { title: 'tokens', align: 'right' },
  { title: 'verbatim', align: 'right' },
  { title: 'reason' },
]

const lineColumns: readonly Column[] = [
  { title: 'what' },
  { title: 'role' },
  { title: 'was' },
  { title: 'is' },
  { title: 'tokens', align: 'right' },
  { title: 'reason' },
]

function explained(result: Explained): Line[] {
  const { id, thread, strategy, budget, tokensUsed, receipt } = result
  const isAbsent = ({ mode }: ReceiptEntry) => mode === 'covered' || mode === 'removed' || mode === 'left-out'
  const absent = receipt.entries.filter(isAbsent)
  const outside = Object.entries(receipt.ineligible).filter(([, count]) => count > 0)
  const first = nothingShown(result)
  return [
    `context ${id}`,
    `thread ${safeText(thread)} · ${strategy} · ${formatCount(tokensUsed)} of ${formatCount(budget)} tokens${fillText(receipt)}`,
    ...scopeLines(receipt.scope),
    ...(first === null ? [] : ['', `warning: ${safeText(first)}`]),
    '',
    ...tableOf(...entryTable(receipt.entries.filter((entry) => !isAbsent(entry)))),
    ...titled('not shown', ...entryTable(absent)),
    ...outside.map(ineligibleLine),
    ...receipt.notes.filter((note) => note !== first).map((note) => `note: ${safeText(note)}`),
    ...referenceLines(receipt.entries, thread),
  ]
}

/** Explains once, below all entries with a reference, how to recall them. */
function referenceLines(entries: readonly ReceiptEntry[], thread: string): string[] {
  const named = entries.find(({ reference, thread: other }) => reference !== undefined && other === undefined)
  if (named === undefined) return []
  return [
    `references: heddle recall ${named.reference} --thread ${JSON.stringify(safeText(thread))} gives the text; ${addressNote}`,
  ]
}

const hiddenTexts: Readonly<Record<HiddenReason, string>> = {
  'outside-window': 'older than the rolling window',
  'before-clear': 'from before the last clear',
}

/** Messages hidden by the window may become visible again; messages kept aside never enter a context. */
function ineligibleLine([reason, count]: [string, number]): string {
  const hidden = hiddenReasons.find((each) => each === reason)
  if (hidden !== undefined) return `hidden by the window: ${formatCount(count)}, ${hiddenTexts[hidden]}`
  return `never eligible: ${formatCount(count)}, ${safeText(reason)}`
}

function scopeLines(scope: ContextResult['receipt']['scope']): string[] {
  if (scope === undefined) return []
  const since = scope.since === null ? '' : ` · since ${scope.since}`
  return [`scope: ${scope.threads.map(safeText).join(', ')}${since}`]
}

const SCORE = 3

/** Most contexts select no entry by score; their table has no column for it. */
function entryTable(entries: readonly ReceiptEntry[]): [columns: readonly Column[], rows: string[][]] {
  const rows = entries.map(entryRow)
  if (rows.some((row) => row[SCORE] !== '')) return [entryColumns, rows]
  return [entryColumns.toSpliced(SCORE, 1), rows.map((row) => row.toSpliced(SCORE, 1))]
}

function entryRow(entry: ReceiptEntry): string[] {
  const { section, mode, tokens, tokensRaw, item, memory, reason } = entry
  return [
    section,
    whatOf(entry),
    mode,
    (item?.similarityScore ?? memory?.score)?.toFixed(2) ?? '',
    formatCount(tokens),
    tokensRaw === undefined ? '' : formatCount(tokensRaw),
    oneLine(safeText(reason), REASON_CHARACTERS),
  ]
}

/** `msg-1a2b3c4d user`, `rule style`, `messages 12-40 (29)`, `iterations 3-9`, or the role of a fixed part. */
function whatOf(entry: ReceiptEntry): string {
  return entry.thread === undefined ? ownWhatOf(entry) : `${safeText(entry.thread)}: ${ownWhatOf(entry)}`
}

function ownWhatOf(entry: ReceiptEntry): string {
  const { reference, role, count, fromSeq, toSeq, fromIteration, toIteration, memory, item, ledger, fact } = entry
  if (memory !== undefined) return `${memory.reference.split('/').at(-1)} ${role ?? ''}`.trimEnd()
  if (ledger !== undefined) return `${ledger.line} ${ledger.kind} ${safeText(ledger.name)}`
  if (fact !== undefined)
    return `${safeText(fact.subject)} ${safeText(fact.predicate)} ${fact.references[0] ?? ''}`.trimEnd()
  if (item !== undefined) return `${item.type} ${safeText(labelOf(item))}`
  if (reference !== undefined) return `${reference} ${role ?? ''}`.trimEnd()
  if (fromIteration !== undefined)
    return fromIteration === toIteration ? `iteration ${fromIteration}` : `iterations ${fromIteration}-${toIteration}`
  if (fromSeq !== undefined && count === 1) return `message ${fromSeq}`
  if (count > 0) return `${formatCount(count)} messages${fromSeq === undefined ? '' : ` (${fromSeq}-${toSeq})`}`
  return role ?? ''
}

function diffLines(diff: ContextDiff): Line[] {
  const { tokens, sections, delivered } = diff
  const both: Column[] = [
    { title: 'before', align: 'right' },
    { title: 'after', align: 'right' },
    { title: 'change', align: 'right' },
  ]
  const total = { name: 'total', ...tokens }
  const rows = [...sections, total].map(({ name, before, after }) => [
    name,
    formatCount(before),
    formatCount(after),
    signed(after - before),
  ])
  const settings = diff.settings.map(({ name, before, after }) => [name, valueText(before), valueText(after)])
  return [
    ...tableLines([{ title: 'tokens' }, ...both], rows),
    ...titled('settings', [{ title: 'what' }, { title: 'before' }, { title: 'after' }], settings),
    ...titled('came in', lineColumns, diff.cameIn.map(lineRow)),
    ...titled('went out', lineColumns, diff.wentOut.map(lineRow)),
    ...titled('changed', lineColumns, diff.changed.map(lineRow)),
    ...titled('moved', lineColumns, diff.moved.map(lineRow)),
    '',
    `${formatCount(delivered.same)} of ${formatCount(delivered.after)} delivered pieces are those of before (${formatCount(delivered.before)}); both begin with the same ${formatCount(delivered.sharedPrefixTokens)} tokens`,
  ]
}

function lineRow({ what, role, before, after }: DiffLine): string[] {
  const mode = (standing: Standing | null) => standing?.mode ?? '-'
  const tokens = (after?.tokens ?? 0) - (before?.tokens ?? 0)
  const reason = oneLine(safeText((after ?? before)?.reason ?? ''), REASON_CHARACTERS)
  return [safeText(what), role ?? '', mode(before), mode(after), signed(tokens), reason]
}

function signed(change: number): string {
  return change > 0 ? `+${formatCount(change)}` : formatCount(change)
}

function valueText(value: unknown): string {
  return oneLine(safeText(typeof value === 'string' ? value : JSON.stringify(value)), VALUE_CHARACTERS)
}

/** A table below its title; no lines without rows. */
function titled(title: string, columns: readonly Column[], rows: readonly string[][]): Line[] {
  return rows.length === 0 ? [] : ['', `${title}: ${formatCount(rows.length)}`, ...tableOf(columns, rows)]
}

function tableOf(columns: readonly Column[], rows: readonly string[][]): Line[] {
  const more = rows.length - ROWS_MAX
  return [
    ...tableLines(columns, rows.slice(0, ROWS_MAX)),
    ...(more > 0 ? [`… ${formatCount(more)} more lines: --json shows all of them`] : []),
  ]
}
