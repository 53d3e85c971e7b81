import { type ContextResult, limits, PermanentError, type ReceiptEntry } from '@heddle/contracts'
import { type Lane, laneOf } from '../compaction/lane.js'
import { costUnder } from '../compaction/plan.js'
import { settle } from '../compaction/settle.js'
import type { CompactionState } from '../compaction/state.js'
import { type Conversation, readConversation } from '../conversation.js'
import { countFrame, countNeutralMessage, render } from '../formats/index.js'
import type { NeutralMessage } from '../formats/neutral.js'
import { DEFAULT_WINDOW_TOKENS, isKnownModel } from '../models.js'
import { type Counting, countLine } from './counting.js'
import { capSizes, slideWindow } from './fit.js'
import { type History, layOutHistory } from './history.js'
import type { BuildInput } from './input.js'
import { fixedEntries, historyEntries, RENDERER_VERSION, sectionTotals } from './receipt.js'
import { type FixedSection, fixedSections, sectionNames, summaryMessage } from './sections.js'

/** Tries to bring the rendered history under its room; each takes what the one before was over by from the room. */
const FITTING_ROUNDS_MAX = 8

interface Fitted {
  readonly history: History
  readonly state: CompactionState | null
  readonly summary: NeutralMessage | null
  readonly tokens: number
  readonly notes: readonly string[]
}

/**
 * Builds a context: sections in a fixed order, the history fitted into what the others leave of the budget, every
 * eligible message accounted for in the receipt (DESIGN: invariants 3, 6, 7 and 12).
 *
 * @throws PermanentError `BUDGET_TOO_SMALL` with the tokens that are needed, where even the shortened form does not fit
 */
export function buildContext(input: BuildInput): Omit<ContextResult, 'id'> {
  const lane = laneOf(input.settings)
  const conversation = readConversation(input.messages)
  const every = fixedSections(input)
  const needed = every.filter((section) => section.isOptional !== true)
  const isEmpty = conversation.messages.length === 0 && input.unloaded.length === 0
  if (isEmpty && input.request.message === undefined) {
    throw new PermanentError('VALIDATION_ERROR', 'Conversation has no messages', {
      field: 'messages',
      received: 'nothing',
      hint: 'append messages to the thread, or give the request a message',
    })
  }
  const whole = fitHistory(input, conversation, lane, lane.limitTokens - countFixed(every, input))
  if (!('neededTokens' in whole)) return assembled(input, lane, every, whole)
  const fixedTokens = countFixed(needed, input)
  const fitted =
    needed.length === every.length ? whole : fitHistory(input, conversation, lane, lane.limitTokens - fixedTokens)
  if ('neededTokens' in fitted) {
    const fits = (budget: number) =>
      !('neededTokens' in fitHistory(input, conversation, { ...lane, limitTokens: budget }, budget - fixedTokens))
    const likely = fixedTokens + fitted.neededTokens
    const least =
      conversation.messages.length > SEARCHED_MESSAGES_MAX ? likely : leastBudget(lane.limitTokens, likely, fits)
    throw budgetTooSmall(lane.limitTokens, least, fixedTokens)
  }
  return assembled(input, lane, needed, { ...fitted, notes: [...fitted.notes, OPTIONAL_LEFT_OUT] })
}

const OPTIONAL_LEFT_OUT = 'what happens in other threads was left out to fit the budget'

function countFixed(sections: readonly FixedSection[], { format, count }: BuildInput): number {
  return sections
    .flatMap((section) => section.messages)
    .reduce((sum, message) => sum + countNeutralMessage(format, message, count), countFrame(format, count))
}

/** Of a longer conversation the needed budget is estimated and not tried out, which would take seconds. */
const SEARCHED_MESSAGES_MAX = 5_000
/** How near to the least budget that works the search for it comes. */
const SEARCH_SHARE = 0.01

/** A budget that was tried out and works, near the least one. What is needed depends on the budget: a larger one covers less. */
function leastBudget(tooSmall: number, likely: number, fits: (budget: number) => boolean): number {
  let low = tooSmall
  let high = Math.max(likely, tooSmall + 1)
  while (!fits(high) && high < limits.budgetTokensMax) {
    low = high
    high *= 2
  }
  while (high - low > Math.max(1, high * SEARCH_SHARE)) {
    const middle = Math.floor((low + high) / 2)
    if (fits(middle)) high = middle
    else low = middle
  }
  return high
}

function budgetTooSmall(budget: number, needed: number, fixedTokens: number): PermanentError {
  const shorten = fixedTokens > needed / 2 ? ', or shorten the system prompt, the docs and the message' : ''
  return new PermanentError('BUDGET_TOO_SMALL', `the context needs about ${needed} tokens, the budget is ${budget}`, {
    field: 'budget',
    received: String(budget),
    facts: { budget, needed },
    hint: `ask for a budget of ${needed} tokens or more${shorten}`,
  })
}

function fitHistory(
  input: BuildInput,
  conversation: Conversation,
  lane: Lane,
  room: number,
): Fitted | { neededTokens: number } {
  let needed = 0
  let reduced = room
  for (let round = 0; round < FITTING_ROUNDS_MAX && reduced > 0; round++) {
    const attempt = layOutWithin(input, conversation, lane, reduced)
    if ('neededTokens' in attempt) return { neededTokens: attempt.neededTokens + (room - reduced) }
    if (attempt.tokens <= room) return attempt
    needed = attempt.tokens
    reduced -= attempt.tokens - room + 16
  }
  return { neededTokens: Math.max(needed, room + 1, minimalTokens(input, conversation)) }
}

function minimalTokens(input: BuildInput, conversation: Conversation): number {
  const minimal = capSizes(conversation, input.state, new Map(), 0)
  return 'neededTokens' in minimal ? minimal.neededTokens : 0
}

function layOutWithin(
  input: BuildInput,
  conversation: Conversation,
  lane: Lane,
  room: number,
): Fitted | { neededTokens: number } {
  const { state, notes } = stateWithin(input, conversation, lane, room)
  const summary = state?.summary == null ? null : summaryMessage(state.summary, input.format)
  const summaryTokens = summary === null ? 0 : countNeutralMessage(input.format, summary, input.count)
  const leftOut =
    lane.strategy === 'sliding-window'
      ? slideWindow(conversation, input.settings.slidingWindow.keepLastN, room)
      : new Map<string, string>()
  const sizes = capSizes(conversation, state, leftOut, room - summaryTokens)
  if ('neededTokens' in sizes) return { neededTokens: sizes.neededTokens + summaryTokens }
  const history = layOutHistory(conversation, state, { caps: sizes.caps, leftOut, reference: input.reference })
  const counting = countingOf(input)
  const tokens = history.lines.reduce((sum, line) => sum + countLine(line, counting), summaryTokens)
  const elidedNote = sizes.caps.size > 0 ? [`${sizes.caps.size} messages were shortened to fit the budget`] : []
  return {
    history,
    state,
    summary,
    tokens,
    notes: [...notes, ...history.notes, ...elidedNote, ...undoneNotes(history)],
  }
}

/** What was asked for and could not be had: messages whose pruning was undone, and which are not there verbatim. */
function undoneNotes({ lines, absent }: History): string[] {
  const all = [...lines.flatMap((line) => line.sources), ...absent]
  const count = all.filter(({ message, fate }) => message.undone === true && fate.mode !== 'raw').length
  return count === 0 ? [] : [`${count} messages whose pruning was undone do not fit, and stand as before`]
}

/** What the reader should know of the limit that the context was held to. */
function limitNotes({ settings }: BuildInput, lane: Lane): string[] {
  const { model, budget } = settings
  const assumed =
    model !== null && !isKnownModel(model)
      ? [`the window of model "${model}" is not known: ${DEFAULT_WINDOW_TOKENS} tokens are assumed`]
      : []
  const held =
    budget !== null && budget > lane.limitTokens
      ? [
          `the budget of ${budget} tokens was held to ${lane.limitTokens}: the window of the model less the room for its answer`,
        ]
      : []
  return [...assumed, ...held]
}

export function countingOf(input: BuildInput): Counting {
  return { format: input.format, count: input.count, storedCountsFit: input.counter === 'o200k' }
}

/** The published state where it serves; else what the deterministic fallback arrives at. */
function stateWithin(
  input: BuildInput,
  conversation: Conversation,
  lane: Lane,
  room: number,
): { state: CompactionState | null; notes: string[] } {
  if (lane.strategy !== 'sandwich') return { state: null, notes: [] }
  const cost = (state: CompactionState | null) =>
    conversation.messages.reduce((sum, message) => sum + costUnder(message, state), state?.summaryTokens ?? 0)
  if (input.state !== null && cost(input.state) <= room) return { state: input.state, notes: [] }
  const settled = settle(conversation.messages, input.state, lane, input.headSeq, input.reference)
  const fallback =
    settled !== input.state
      ? ['compacted for this request alone, with the extractive summary: no published compaction fits its budget']
      : []
  if (cost(settled) <= room) return { state: settled, notes: fallback }
  const tighter = settle(
    conversation.messages,
    settled,
    { ...lane, limitTokens: Math.max(1, room) },
    input.headSeq,
    input.reference,
  )
  const isTighter =
    tighter !== settled ? ['the history was compacted further to leave room for the other sections'] : []
  return { state: tighter, notes: [...fallback, ...isTighter] }
}

function assembled(
  input: BuildInput,
  lane: Lane,
  fixed: readonly FixedSection[],
  fitted: Fitted,
): Omit<ContextResult, 'id'> {
  const before = fixed.filter((section) => section.name === 'system-prompt' || section.name === 'docs')
  const after = fixed.filter((section) => section.name === 'status' || section.name === 'message')
  const historyMessages = fitted.history.lines.map((line) => line.neutral)
  if (fitted.summary) historyMessages.splice(fitted.history.summaryAt, 0, fitted.summary)
  const neutral = [
    ...before.flatMap((section) => section.messages),
    ...historyMessages,
    ...after.flatMap((section) => section.messages),
  ]
  const summaryPart = fitted.summary ? { tokens: countNeutralMessage(input.format, fitted.summary, input.count) } : null
  const entries: ReceiptEntry[] = [
    ...before.flatMap((section) => fixedEntries(section, input)),
    ...historyEntries(fitted.history, summaryPart, input, countingOf(input)),
    ...after.flatMap((section) => fixedEntries(section, input)),
  ]
  const rendered = render(input.format, neutral)
  const eligible = entries.reduce((sum, entry) => sum + entry.count, 0)
  return {
    thread: input.thread.name,
    agent: input.agent.name,
    format: input.format,
    strategy: lane.strategy,
    budget: lane.limitTokens,
    tokensUsed: countFixed(fixed, input) + fitted.tokens,
    summaryUsed: fitted.summary !== null,
    system: rendered.system,
    messages: rendered.messages,
    receipt: {
      rendererVersion: RENDERER_VERSION,
      eligible,
      imported: input.imported,
      ineligible: { ...input.ineligible },
      counter: input.counter,
      model: input.settings.model,
      agentVersion: input.agent.version,
      stateId: fitted.state === input.state ? input.stateId : null,
      clearEpoch: input.clearEpoch,
      headSeq: input.headSeq,
      sections: sectionTotals(entries, sectionNames),
      entries,
      notes: [...limitNotes(input, lane), ...fitted.notes],
      tokensRaw: entries.reduce((sum, entry) => sum + (entry.tokensRaw ?? entry.tokens), 0),
    },
  }
}
