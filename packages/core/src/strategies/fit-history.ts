import { type Counting, countLine } from '../assembly/counting.js'
import { capSizes } from '../assembly/fit.js'
import { type History, layOutHistory } from '../assembly/history.js'
import { summaryMessage } from '../assembly/sections.js'
import { settle } from '../compaction/settle.js'
import type { CompactionState } from '../compaction/state.js'
import { costUnder } from '../compaction/state-costs.js'
import { countNeutralMessage } from '../formats/index.js'
import { crowdOut, turnsThatMayGo } from './crowd-out.js'
import type { ContextStrategy, FittedHistory, HistoryInput, TooSmall } from './strategy.js'

/** Tries to bring the rendered history under its room; each takes what the one before was over by from the room. */
const FITTING_ROUNDS_MAX = 8

/**
 * Fits a history into its room: by the compaction in force, else by those that the deterministic fallback makes, then by
 * what the strategy leaves out, and at last by shortening single messages. Every message stays accounted for.
 */
export function fitHistory(strategy: ContextStrategy, input: HistoryInput): FittedHistory | TooSmall {
  const room = input.roomTokens
  let needed = 0
  let reduced = room
  for (let round = 0; round < FITTING_ROUNDS_MAX && reduced > 0; round++) {
    const attempt = layOutWithin(strategy, input, reduced)
    if ('neededTokens' in attempt) return { neededTokens: attempt.neededTokens + (room - reduced) }
    if (attempt.tokens <= room) return attempt
    needed = attempt.tokens
    reduced -= attempt.tokens - room + 16
  }
  return { neededTokens: Math.max(needed, room + 1, minimalTokens(input)) }
}

function minimalTokens({ conversation, state }: HistoryInput): number {
  const minimal = capSizes(conversation, state, new Map(), 0)
  return 'neededTokens' in minimal ? minimal.neededTokens : 0
}

function layOutWithin(strategy: ContextStrategy, input: HistoryInput, room: number): FittedHistory | TooSmall {
  const { conversation, format } = input
  const { state, notes } = stateWithin(strategy, input, room)
  const summary = state?.summary == null ? null : summaryMessage(state.summary, format)
  const summaryTokens = summary === null ? 0 : countNeutralMessage(format, summary, input.count)
  const asked = strategy.leaveOut?.(conversation, room) ?? new Map<string, string>()
  const { leftOut, sizes } = fitSizes(strategy, input, { state, leftOut: asked, room: room - summaryTokens })
  if ('neededTokens' in sizes) return { neededTokens: sizes.neededTokens + summaryTokens }
  const crowdedOut = leftOut.size - asked.size
  const crowdedNote =
    crowdedOut > 0 ? [`${crowdedOut} messages were left out: even shortened they do not fit the budget`] : []
  const history = layOutHistory(conversation, state, { caps: sizes.caps, leftOut, reference: input.reference })
  const counting: Counting = { format, count: input.count, storedCountsFit: input.storedCountsFit }
  const tokens = history.lines.reduce((sum, line) => sum + countLine(line, counting), summaryTokens)
  const elidedNote = sizes.caps.size > 0 ? [`${sizes.caps.size} messages were shortened to fit the budget`] : []
  return {
    history,
    state,
    summary,
    tokens,
    notes: [...notes, ...history.notes, ...elidedNote, ...crowdedNote, ...undoneNotes(history)],
  }
}

interface Attempt {
  readonly state: CompactionState | null
  readonly leftOut: ReadonlyMap<string, string>
  readonly room: number
}

/** Shortens messages, and where that is not enough leaves out whole turns, unless the strategy shows all of them. */
function fitSizes(strategy: ContextStrategy, { conversation }: HistoryInput, { state, leftOut, room }: Attempt) {
  const sizes = capSizes(conversation, state, leftOut, room)
  const showsAll = strategy.planCoverage === undefined && strategy.leaveOut === undefined
  if (!('neededTokens' in sizes) || showsAll) return { leftOut, sizes }
  const fits = (without: ReadonlyMap<string, string>) =>
    !('neededTokens' in capSizes(conversation, state, without, room))
  const fewer = crowdOut(turnsThatMayGo(conversation, state, leftOut), leftOut, fits)
  return fewer === null ? { leftOut, sizes } : { leftOut: fewer, sizes: capSizes(conversation, state, fewer, room) }
}

/** What was asked for and could not be had: messages whose pruning was undone, and which are not there verbatim. */
function undoneNotes({ lines, absent }: History): string[] {
  const all = [...lines.flatMap((line) => line.sources), ...absent]
  const count = all.filter(({ message, fate }) => message.undone === true && fate.mode !== 'raw').length
  return count === 0 ? [] : [`${count} messages whose pruning was undone do not fit, and stand as before`]
}

/** The published state where it serves; else what the deterministic fallback arrives at. */
function stateWithin(
  strategy: ContextStrategy,
  { conversation, state, isStateCurtailed = false, lane, headSeq, reference }: HistoryInput,
  room: number,
): { state: CompactionState | null; notes: string[] } {
  if (strategy.planCoverage === undefined) return { state: null, notes: [] }
  const cost = (under: CompactionState | null) =>
    conversation.messages.reduce((sum, message) => sum + costUnder(message, under), under?.summaryTokens ?? 0)
  if (state !== null && cost(state) <= room) return { state, notes: [] }
  const settled = settle(conversation.messages, isStateCurtailed ? null : state, lane, headSeq, reference)
  const why = isStateCurtailed
    ? 'no published compaction is of the scope alone'
    : 'no published compaction fits its budget'
  const fallback = settled !== state ? [`compacted for this request alone, with the extractive summary: ${why}`] : []
  if (cost(settled) <= room) return { state: settled, notes: fallback }
  const tighterLane = { ...lane, limitTokens: Math.max(1, room) }
  const tighter = settle(conversation.messages, settled, tighterLane, headSeq, reference)
  const isTighter =
    tighter !== settled ? ['the history was compacted further to leave room for the other sections'] : []
  return { state: tighter, notes: [...fallback, ...isTighter] }
}
