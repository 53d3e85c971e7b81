import type { ThreadOverview } from '@heddle/client/interface'
import type { ContextResult, Receipt } from '@heddle/contracts'
import { countByMode } from '../commands/context/context-view.js'
import type { ImportedThread } from '../importing/imported-thread.js'
import { layOut } from '../output/layout.js'
import type { Printer } from '../output/printer.js'
import { oneLine, safeText } from '../output/safe-text.js'
import { formatCount, formatDuration, itemTable, type Table } from '../output/table.js'
import type { TimedStep } from './step-timer.js'

/** A tool result that the context shows in a shortened form, fetched back whole. */
export interface RecalledResult {
  readonly reference: string
  readonly tokensInContext: number
  readonly tokensRecalled: number
  readonly bytes: number
  readonly sha256: string
  /** Whether it is the original byte for byte. */
  readonly identical: boolean
}

export interface Fate {
  readonly mode: string
  readonly messages: number
  /** Their tokens in the context. */
  readonly tokens: number
  /** Their tokens if they were shown verbatim. */
  readonly tokensRaw: number
}

export interface DemoReport {
  readonly session: {
    /** `recorded`, or the user's file. */
    readonly source: string
    readonly format: string
    readonly messages: number
    readonly toolCalls: number
    readonly toolResults: number
    readonly failedResults: number
  }
  readonly stored: ImportedThread & { readonly tokens: number }
  readonly prunings: ThreadOverview['prunings']
  readonly compactions: number
  /** The summary in the context; null if the context has no summary. */
  readonly summary: string | null
  /** Calls of providers and their cost. */
  readonly summaryCosts: ThreadOverview['summaryCosts']
  readonly context: {
    readonly id: string
    readonly budget: number
    readonly strategy: string
    readonly sections: Receipt['sections']
    readonly messages: number
    readonly fates: readonly Fate[]
    readonly tokensBefore: number
    readonly tokensAfter: number
    readonly notes: readonly string[]
  }
  readonly recalled: RecalledResult | null
  readonly where: {
    readonly mode: string
    readonly project: string
    /** The summarizer that wrote the summary shown. */
    readonly summarizer: string | null
    /** Why the chosen summarizer was given up; null if it was used. */
    readonly wentOn: string | null
    readonly embedder: string | null
  }
  readonly steps: readonly TimedStep[]
}

/** The messages by mode, largest group first. */
export function fatesOf(built: ContextResult): Fate[] {
  const { entries } = built.receipt
  return [...countByMode(entries)]
    .map(([mode, messages]) => {
      const own = entries.filter((entry) => entry.mode === mode && entry.count > 0)
      return {
        mode,
        messages,
        tokens: own.reduce((sum, entry) => sum + entry.tokens, 0),
        tokensRaw: own.reduce((sum, entry) => sum + (entry.tokensRaw ?? entry.tokens), 0),
      }
    })
    .sort((left, right) => right.messages - left.messages)
}

const SUMMARY_OPENING = '[Earlier conversation summary: '

/** The text of the summary in a neutral context. */
export function summaryOf(built: ContextResult): string | null {
  for (const { content } of built.messages) {
    if (typeof content === 'string' && content.startsWith(SUMMARY_OPENING)) {
      return content.slice(SUMMARY_OPENING.length, -1)
    }
  }
  return null
}

const SUMMARY_LINES_SHOWN = 12
const LINE_CHARACTERS = 110

/** The report for people. */
export function demoLines(report: DemoReport, colors: Printer['colors']): string[] {
  const { session, stored, context, recalled } = report
  const heading = (text: string) => ['', colors.bold(text)]
  const spared = context.tokensBefore - context.tokensAfter
  const share = context.tokensBefore === 0 ? 0 : Math.round((100 * spared) / context.tokensBefore)
  return [
    ...heading('The session'),
    session.source === 'recorded'
      ? '  recorded: an agent worked on a copy of the code of Heddle, with real tools'
      : `  ${safeText(session.source)}, ${session.format}`,
    `  ${formatCount(session.messages)} messages, ${formatCount(session.toolCalls)} tool calls, ${formatCount(session.toolResults)} results, ${formatCount(session.failedResults)} of them failures`,
    ...heading('Stored, through the queue'),
    `  ${formatCount(stored.stored)} messages stored, ${formatCount(stored.repeated)} repeated, about ${formatCount(stored.tokens)} tokens`,
    `  eligible ${formatCount(stored.eligible)} / imported ${formatCount(stored.imported)}, kept aside ${formatCount(stored.keptAside)}`,
    ...heading('Pruned and summarized'),
    `  ${formatCount(report.compactions)} compactions; ${formatCount(report.prunings.condense)} messages condensed, ${formatCount(report.prunings.remove)} removed, ${formatCount(report.prunings.stub)} reduced to a stub`,
    ...indented(
      itemTable(context.fates, [
        { title: 'in this context', text: ({ mode }) => mode },
        { title: 'messages', count: ({ messages }) => messages },
        { title: 'tokens verbatim', count: ({ tokensRaw }) => tokensRaw },
        { title: 'tokens now', count: ({ tokens }) => tokens },
      ]),
    ),
    ...heading('The summary'),
    ...summaryLines(report.summary),
    ...writerLines(report),
    ...heading(`The context for ${formatCount(context.budget)} tokens (${context.strategy})`),
    ...indented(
      itemTable(
        [...context.sections, { name: 'total', count: context.messages, tokens: context.tokensAfter }],
        [
          { title: 'section', text: ({ name }) => name },
          { title: 'messages', count: ({ count }) => count },
          { title: 'tokens', count: ({ tokens }) => tokens },
        ],
      ),
    ),
    ...context.notes.map((note) => `  note: ${safeText(note)}`),
    `  before ${formatCount(context.tokensBefore)} tokens, after ${formatCount(context.tokensAfter)}: ${share} % less`,
    ...heading('Recalled'),
    ...recalledLines(recalled),
    ...heading('Time'),
    ...report.steps.map((step) => `  ${formatDuration(step.durationMs).padStart(8)}  ${step.name}`),
    `  ${report.where.mode}; summaries: ${report.where.summarizer ?? 'none'}; vectors: ${report.where.embedder ?? 'none'}`,
  ]
}

function indented(table: readonly [Table]): string[] {
  return layOut(table, null).map((line) => `  ${line}`)
}

function summaryLines(summary: string | null): string[] {
  if (summary === null) return ['  none: all messages fit the budget']
  const lines = summary.split('\n').filter((line) => line.trim() !== '')
  const shown = lines.slice(0, SUMMARY_LINES_SHOWN).map((line) => `  ${oneLine(line, LINE_CHARACTERS)}`)
  return lines.length > shown.length ? [...shown, `  … ${lines.length - shown.length} more lines`] : shown
}

/** The summarizer and its cost; without a provider, nothing left the machine. */
function writerLines({ where: { summarizer, wentOn }, summaryCosts: costs }: DemoReport): string[] {
  if (wentOn !== null) return [`  written without a model: ${safeText(wentOn)}`]
  if (summarizer === null || summarizer === 'extractive')
    return ['  written without a model: nothing left this machine']
  const tokens = `${formatCount(costs.inputTokens)} tokens in, ${formatCount(costs.outputTokens)} out`
  return [
    `  written by ${safeText(summarizer)}: ${formatCount(costs.calls)} calls, ${tokens}, about $${costs.costUsd.toFixed(4)}`,
  ]
}

function recalledLines(recalled: RecalledResult | null): string[] {
  if (recalled === null) return ['  nothing: this context shows every tool result in full']
  return [
    `  ${safeText(recalled.reference)}: ${formatCount(recalled.tokensInContext)} tokens in the context, ${formatCount(recalled.tokensRecalled)} recalled (${formatCount(recalled.bytes)} bytes)`,
    `  SHA-256 ${recalled.sha256.slice(0, 16)}…: ${recalled.identical ? 'identical to the original' : 'NOT the original'}`,
  ]
}
