import type { Settings } from '@heddle/contracts'
import { limitTokens } from '../compaction/lane.js'
import { readConversation } from '../conversation/conversation.js'
import { positionOf } from '../conversation/order.js'
import { messageReference } from '../conversation/references.js'
import { countNeutralMessage } from '../formats/index.js'
import { extendLedger, type Ledger, showLedger } from '../ledger/index.js'
import { finish } from '../recall/steps.js'
import { strategyOf } from '../strategies/registry.js'
import { countTokens } from '../tokens/tokens.js'
import type { BuildInput } from './input.js'
import type { FixedSection } from './section.js'

/** Maximum share of the limit for the ledger, whatever the request allows. */
const LEDGER_SHARE = 0.25

/**
 * The ledger as of the last compaction; its text changes with the next one. A strategy that never compacts has that of its messages,
 * which changes with each call and therefore follows the history.
 */
export function ledgerSections(input: BuildInput): FixedSection[] {
  const { ledger: wanted, settings, format, count, reference } = input
  if (wanted === undefined) return []
  const current = wanted.ledger === null ? currentLedger(input) : null
  const ledger = wanted.ledger ?? current
  if (ledger === null) return []
  const shown = showLedger(ledger, {
    tokensMax: tokensFor(wanted.tokensMax, settings),
    cost: (message) => countNeutralMessage(format, message, count),
    reference: (code) => reference({ code }),
    isStored: current === null,
  })
  if (shown === null) return []
  const { message, lines, leftOut } = shown
  const extent = current === null ? 'up to the last compaction' : 'until now'
  return [
    {
      name: 'ledger',
      messages: [message],
      reason: `the ledger ${extent}: ${lines.length} lines`,
      lines: lines.map(({ reason, ...line }) => ({ ledger: line, reason })),
      leftOut:
        leftOut === 0
          ? []
          : [{ section: 'ledger', mode: 'left-out', count: 0, tokens: 0, reason: `${leftOut} lines did not fit` }],
      isOptional: true,
      ...(current !== null && { isVolatile: true }),
    },
  ]
}

export function ledgerNotes(input: BuildInput): string[] {
  if (input.ledger === undefined || input.ledger.ledger !== null) return []
  if (!neverCompacts(input)) return ['the thread has no ledger before its first compaction']
  if (input.loop !== undefined) return ['a run has no ledger: its iterations stand for their messages']
  const before = input.unloaded.reduce((sum, { count }) => sum + count, 0)
  return before === 0 ? [] : [`the ledger has no calls of ${before} messages that were not read`]
}

function neverCompacts({ settings }: BuildInput): boolean {
  return strategyOf(settings).planCoverage === undefined
}

/** The ledger of the messages of the thread itself; null for a strategy that compacts, and for a run. */
function currentLedger(input: BuildInput): Ledger | null {
  const own = input.messages.filter(({ origin }) => origin === undefined)
  if (own.length === 0 || input.loop !== undefined || !neverCompacts(input)) return null
  const conversation = readConversation(own)
  const last = conversation.messages.at(-1)
  if (last === undefined) return null
  const range = { conversation, after: null, to: positionOf(last), tools: input.settings.tools }
  return finish(extendLedger(null, range))
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
    isStored: true,
  })
  return shown?.message.content
}
