import type { ContextResult, ReceiptEntry } from '@heddle/contracts'
import type { Lane } from '../compaction/lane.js'
import { type Conversation, conversationOf } from '../conversation/conversation.js'
import { sentMessages } from '../delivery/reasoning.js'
import { countNeutralMessage } from '../formats/index.js'
import { messagesOf, noMessages } from '../strategies/define.js'
import { laneOf } from '../strategies/lane-of.js'
import type { ContextStrategy, FittedHistory } from '../strategies/strategy.js'
import { buildRunContext } from './build-run.js'
import { deliver } from './deliver.js'
import { attempts, budgetTooSmall, countFixed, countingOf, limitNotes, toolsTokens } from './frame.js'
import { emptyByWindow, ineligibleCounts, windowNotes } from './hidden-messages.js'
import type { BuildInput } from './input.js'
import { leftOutItems, selectionNotes, selectionOf, shownItems } from './item-receipt.js'
import { leftOutMemories, memoriesOf, memoryNotes, withoutHeld } from './memory-section.js'
import { fixedEntries, historyEntries, RENDERER_VERSION, sectionTotals } from './receipt.js'
import type { FixedSection } from './section.js'
import { arrange, fixedSections, messagesIn, sectionOrder } from './sections.js'

/**
 * Builds a context: the fixed sections in their order, the history fitted into the rest of the budget, every
 * eligible message accounted for in the receipt (docs/design.md#invariant-3, #invariant-6, #invariant-7 and
 * #invariant-12).
 *
 * @throws PermanentError `BUDGET_TOO_SMALL` with the tokens that are needed, when even the shortest form does not fit
 */
export function buildContext(input: BuildInput): Omit<ContextResult, 'id'> {
  const lane = laneOf(input.settings)
  if (input.loop !== undefined) return buildRunContext(input, input.loop, lane)
  const conversation = conversationOf(sentMessages(input.format, input.messages))
  const every = fixedSections(input)
  const isEmpty =
    conversation.messages.length === 0 && (isBounded(input) || input.unloaded.every(({ count }) => count === 0))
  if (isEmpty && input.request.message === undefined) throw refuseEmpty(input)
  let fixedTokens = 0
  let neededTokens = 0
  for (const { sections, notes } of attempts(every)) {
    fixedTokens = countFixed(sections, input)
    const fitted = fitHistory(input, conversation, lane, lane.limitTokens - fixedTokens)
    if (!('neededTokens' in fitted))
      return assembled(input, lane, sections, { ...fitted, notes: [...fitted.notes, ...notes] })
    neededTokens = fixedTokens + fitted.neededTokens
  }
  throw budgetTooSmall(lane.limitTokens, neededTokens, fixedTokens)
}

function refuseEmpty(input: BuildInput): Error {
  const hidden = emptyByWindow(input)
  if (hidden !== null) return noMessages(hidden.hint, hidden.why)
  return noMessages(input.imported > 0 ? NONE_SHOWN : undefined)
}

const NONE_SHOWN =
  'all messages of the thread are before its last clear, or outside its rolling window or the scope: widen those, restore a snapshot, or give the request a message'

/**
 * With a scope and no summary, messages that were not loaded are outside the scope, so they do not count as content.
 */
function isBounded({ scope, state }: BuildInput): boolean {
  return scope !== undefined && state?.summary == null
}

/**
 * A history whose smallest form exceeds its allocation gets as much as that form takes; otherwise no budget would be
 * enough.
 */
function fitHistory(input: BuildInput, conversation: Conversation, lane: Lane<ContextStrategy>, roomTokens: number) {
  const { state, headSeq, reference, scope, settings } = input
  const allocation = settings.sections.allocations.history ?? roomTokens
  const isStateCurtailed = scope?.since != null && state !== null && state.summary === null
  const isAnswered = input.request.message !== undefined
  const fill = input.fill ?? 'cache'
  const hasUnloadedCovered = input.unloaded.some(({ mode, count }) => mode === 'covered' && count > 0)
  const given = {
    ...{ conversation, state, isStateCurtailed, lane, headSeq, reference, fill, isAnswered, hasUnloadedCovered },
    isLaneKept: input.isLaneKept ?? true,
    ...countingOf(input),
  }
  const fitInto = (tokens: number) => lane.strategy.fitHistory({ ...given, roomTokens: Math.min(roomTokens, tokens) })
  const fitted = fitInto(allocation)
  if (!('neededTokens' in fitted) || allocation >= roomTokens) return fitted
  const smallest = fitInto(fitted.neededTokens)
  const larger = 'neededTokens' in smallest ? fitInto(roomTokens) : smallest
  if ('neededTokens' in larger) return larger
  const note = `the history takes more than the ${allocation} tokens allocated to it: its smallest form is larger`
  return { ...larger, notes: [...larger.notes, note] }
}

function assembled(
  input: BuildInput,
  lane: Lane,
  sections: readonly FixedSection[],
  fitted: FittedHistory,
): Omit<ContextResult, 'id'> {
  const fixed = withoutHeld(sections, idsIn(fitted))
  const { before, after, stable } = arrange(fixed, input)
  const opening = messagesIn(before)
  const history = messagesOf(fitted)
  const messages = [...opening, ...history, ...messagesIn(after)]
  const stableEnds = stable < opening.length ? [stable] : [stable, stable + history.length]
  const summaryPart = fitted.summary ? { tokens: countNeutralMessage(input.format, fitted.summary, input.count) } : null
  const entries: ReceiptEntry[] = [
    ...before.flatMap((section) => fixedEntries(section, input)),
    ...historyEntries(fitted, summaryPart, input, countingOf(input)),
    ...after.flatMap((section) => fixedEntries(section, input)),
    ...leftOutItems(fixed, input),
    ...leftOutMemories(fixed, input),
  ]
  const outgoing = {
    messages,
    stableEnds,
    tokensUsed: countFixed(fixed, input) + fitted.tokens,
    toolsTokens: toolsTokens(fixed),
    budget: lane.limitTokens,
  }
  const { rendered, tokensUsed, notes } = deliver(outgoing, input)
  const eligible = entries.reduce((sum, entry) => sum + entry.count, 0)
  return {
    thread: input.thread.name,
    agent: input.agent.name,
    format: input.format,
    strategy: lane.strategy.name,
    budget: lane.limitTokens,
    tokensUsed,
    summaryUsed: fitted.summary !== null,
    system: rendered.system,
    messages: rendered.messages,
    ...shownItems(fixed),
    receipt: {
      rendererVersion: RENDERER_VERSION,
      eligible,
      imported: input.imported,
      ineligible: ineligibleCounts(input),
      counter: input.counter,
      model: input.settings.model,
      agentVersion: input.agent.version,
      ...(input.fill !== undefined && { fill: input.fill }),
      stateId: fitted.state === input.state || fitted.isSummaryPublished ? input.stateId : null,
      clearEpoch: input.clearEpoch,
      headSeq: input.headSeq,
      sections: sectionTotals(entries, sectionOrder[input.settings.sections.order]),
      entries,
      ...(input.scope !== undefined && { scope: input.scope }),
      ...selectionOf(input),
      ...memoriesOf(input),
      notes: [
        ...windowNotes(input),
        ...limitNotes(input, lane),
        ...fitted.notes,
        ...notes,
        ...selectionNotes(input),
        ...memoryNotes(input),
      ],
      tokensRaw: entries.reduce((sum, entry) => sum + (entry.tokensRaw ?? entry.tokens), 0),
    },
  }
}

/** Ids of the messages that a history shows. */
function idsIn({ history }: FittedHistory): Set<string> {
  return new Set(history.lines.flatMap(({ sources }) => sources.map(({ message }) => message.id)))
}
