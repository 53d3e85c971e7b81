import type { ContextResult, ReceiptEntry } from '@heddle/contracts'
import type { Lane } from '../compaction/lane.js'
import { laneOf } from '../strategies/lane-of.js'
import { leftOutBlocks } from './block-sections.js'
import type { Body, BodyPlan } from './body.js'
import { callSettings, turnNotes, turnsOf } from './call-settings.js'
import { deliver } from './deliver.js'
import {
  type Attempt,
  attempts,
  budgetTooSmall,
  calibrationReceipt,
  countFixed,
  limitNotes,
  toolsTokens,
} from './frame.js'
import { ineligibleCounts } from './hidden-messages.js'
import { planHistory } from './history-body.js'
import type { BuildInput } from './input.js'
import { leftOutItems, selectionNotes, selectionOf, shownItems } from './item-receipt.js'
import { ledgerNotes } from './ledger-section.js'
import { leftOutMemories, memoriesOf, memoryNotes, withoutHeld } from './memory-section.js'
import { fixedEntries, RENDERER_VERSION, sectionTotals } from './receipt.js'
import { planRun } from './run-body.js'
import { arrange, messagesIn, sectionOrder } from './sections.js'

/**
 * Builds a context: the fixed sections in their order, the history or the prompt of a run fitted into the rest of the
 * budget, every eligible message and iteration accounted for in the receipt (docs/design.md#invariant-3, #invariant-6,
 * #invariant-7 and #invariant-12).
 *
 * @throws PermanentError `BUDGET_TOO_SMALL` with the tokens that are needed, when even the shortest form does not fit;
 * `VALIDATION_ERROR` without any content
 */
export function buildContext(input: BuildInput): Omit<ContextResult, 'id'> {
  const lane = laneOf(input.settings)
  const plan = input.loop === undefined ? planHistory(input, lane) : planRun(input, input.loop)
  let fixedTokens = 0
  let neededTokens = 0
  for (const attempt of attempts(plan.fixedSections)) {
    fixedTokens = countFixed(attempt.sections, input)
    const fitted = plan.fit(lane.limitTokens - fixedTokens)
    if (!('neededTokens' in fitted)) return assembled(input, lane, plan, attempt, fitted)
    neededTokens = fitted.neededTokens
  }
  const enough = plan.enough?.(neededTokens) ?? neededTokens
  throw budgetTooSmall(lane.limitTokens, fixedTokens + enough, fixedTokens)
}

function assembled(
  input: BuildInput,
  lane: Lane,
  plan: BodyPlan,
  attempt: Attempt,
  body: Body,
): Omit<ContextResult, 'id'> {
  const fixed = withoutHeld(attempt.sections, body.shown)
  const { before, after, stable } = arrange(fixed, input)
  const opening = messagesIn(before)
  const isBodyStable = plan.isStable && stable === opening.length
  const outgoing = {
    messages: [...opening, ...body.messages, ...messagesIn(after)],
    stableEnds: isBodyStable ? [stable, stable + body.messages.length] : [stable],
    tokensUsed: countFixed(fixed, input) + body.tokens,
    toolsTokens: toolsTokens(fixed),
    budget: lane.limitTokens,
  }
  const { rendered, tokensUsed, notes: repairs } = deliver(outgoing, input)
  const entries: ReceiptEntry[] = [
    ...before.flatMap((section) => fixedEntries(section, input)),
    ...body.entries,
    ...after.flatMap((section) => fixedEntries(section, input)),
    ...leftOutBlocks(input),
    ...fixed.flatMap(({ leftOut = [] }) => leftOut),
    ...leftOutItems(fixed, input),
    ...leftOutMemories(fixed, input),
  ]
  const order = sectionOrder[input.settings.sections.order].flatMap((name): readonly string[] =>
    name === 'history' ? plan.sections : [name],
  )
  const turns = turnsOf(input)
  return {
    thread: input.thread.name,
    agent: input.agent.name,
    format: input.format,
    strategy: lane.strategy.name,
    budget: lane.limitTokens,
    tokensUsed,
    summaryUsed: body.summaryUsed,
    system: rendered.system,
    messages: rendered.messages,
    ...shownItems(fixed),
    settings: callSettings(input),
    turns,
    receipt: {
      rendererVersion: RENDERER_VERSION,
      eligible: entries.reduce((sum, entry) => sum + entry.count, 0),
      imported: input.imported,
      ineligible: ineligibleCounts(input),
      counter: input.counter,
      model: input.settings.model,
      agentVersion: input.agent.version,
      ...plan.facts,
      stateId: body.stateId,
      ...(body.summarizer !== undefined && { summarizer: body.summarizer }),
      clearEpoch: input.clearEpoch,
      headSeq: input.headSeq,
      sections: sectionTotals(entries, order),
      entries,
      ...(input.scope !== undefined && { scope: input.scope }),
      ...selectionOf(input),
      ...memoriesOf(input),
      ...calibrationReceipt(input, tokensUsed),
      notes: [
        ...plan.hiddenNotes,
        ...limitNotes(input, lane),
        ...body.notes,
        ...attempt.notes,
        ...repairs,
        ...selectionNotes(input),
        ...memoryNotes(input),
        ...fixed.flatMap(({ notes = [] }) => notes),
        ...ledgerNotes(input),
        ...turnNotes(turns),
      ],
      tokensRaw: entries.reduce((sum, entry) => sum + (entry.tokensRaw ?? entry.tokens), 0),
    },
  }
}
