import type { Settings } from '@heddle/contracts'
import { limitTokens } from '../compaction/lane.js'
import { messageReference } from '../conversation/references.js'
import { countNeutralMessage } from '../formats/index.js'
import { type Ledger, showLedger } from '../ledger/index.js'
import { countTokens } from '../tokens/tokens.js'
import type { BuildInput } from './input.js'
import type { FixedSection } from './section.js'

/** Maximum share of the limit for the ledger, whatever the request allows. */
const LEDGER_SHARE = 0.25

/** The ledger as of the last compaction; its text changes with the next one. */
export function ledgerSections({ ledger: wanted, settings, format, count, reference }: BuildInput): FixedSection[] {
  if (wanted === undefined || wanted.ledger === null) return []
  const shown = showLedger(wanted.ledger, {
    tokensMax: tokensFor(wanted.tokensMax, settings),
    cost: (message) => countNeutralMessage(format, message, count),
    reference: (code) => reference({ code }),
  })
  if (shown === null) return []
  const { message, lines, leftOut } = shown
  return [
    {
      name: 'ledger',
      messages: [message],
      reason: `the ledger up to the last compaction: ${lines.length} lines`,
      lines: lines.map(({ reason, ...line }) => ({ ledger: line, reason })),
      leftOut:
        leftOut === 0
          ? []
          : [{ section: 'ledger', mode: 'left-out', count: 0, tokens: 0, reason: `${leftOut} lines did not fit` }],
      isOptional: true,
    },
  ]
}

export function ledgerNotes({ ledger }: BuildInput): string[] {
  return ledger !== undefined && ledger.ledger === null ? ['the thread has no ledger before its first compaction'] : []
}

function tokensFor(tokensMax: number, settings: Settings): number {
  return Math.min(tokensMax, Math.floor(limitTokens(settings) * LEDGER_SHARE))
}

/** The text of a ledger in contexts that follow settings alone; undefined if they do not have it. */
export function shownLedger(ledger: Ledger | null, settings: Settings): string | undefined {
  const { enabled, tokensMax } = settings.sections.ledger
  if (!enabled || ledger === null) return undefined
  const shown = showLedger(ledger, {
    tokensMax: tokensFor(tokensMax, settings),
    cost: (message) => countNeutralMessage(settings.format ?? 'neutral', message, countTokens),
    reference: messageReference,
  })
  return shown?.message.content
}
