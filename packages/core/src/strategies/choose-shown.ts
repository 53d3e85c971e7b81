import { overheadTokens, rawCost } from '../compaction/costs.js'
import { heldUndone } from '../compaction/plan.js'
import { type CompactionState, isCovered, type Pruning } from '../compaction/state.js'
import { costUnder } from '../compaction/state-costs.js'
import type { Conversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { type Caps, capSizes } from '../history/fit.js'
import type { ContextStrategy, HistoryInput } from './strategy.js'

/** The messages that a context shows beside its summary. */
export interface Shown {
  readonly ids: ReadonlySet<string>
  /** Shown messages that may precede the range of the summary. */
  readonly heldIds: readonly string[]
  readonly caps: Caps
  /** Whether the published summary also covers messages that were not loaded. */
  readonly coversUnloaded: boolean
}

/** Shares of the budget for the first messages and for the latest request; longer ones are shortened. */
const TOP_SHARE_MAX = 0.25
const REQUEST_SHARE_MAX = 0.25
/** Share of the budget for messages whose pruning was undone; beyond it they are treated like all others. */
const UNDONE_SHARE_MAX = 0.5

/**
 * Chooses the messages to show: the pinned ones, the latest request, the first messages within their share, and the
 * newest turns one by one. The first turn that does not fit whole is shortened to the rest.
 *
 * @param published the compaction whose summary covers the messages not shown; null if a summary is made for this
 * context
 * @returns null if nothing can be shown, and no new message follows
 */
export function chooseShown(
  strategy: ContextStrategy,
  conversation: Conversation,
  published: CompactionState | null,
  roomTokens: number,
  input: HistoryInput,
): Shown | null {
  const chosen = new Chosen(conversation, roomTokens, input)
  const request = conversation.messages.findLast(({ role }) => role === 'user')
  const undone = heldUndone(conversation, input.lane)
  chosen.take(conversation.messages.filter(({ id }) => conversation.keptRaw.has(id)))
  const undoneRoom = roomTokens * UNDONE_SHARE_MAX + chosen.usedTokens
  for (const turn of conversation.undone.toReversed()) {
    if (turn.some(({ id }) => undone.has(id))) chosen.take(turn, undoneRoom - chosen.usedTokens, 'whole')
  }
  if (request) chosen.take([request], roomTokens * REQUEST_SHARE_MAX)
  const topRoom = roomTokens * TOP_SHARE_MAX
  const topFrom = chosen.usedTokens
  for (const group of topGroups(strategy, conversation, published)) {
    if (chosen.take(group, topRoom - (chosen.usedTokens - topFrom)) !== 'whole') break
  }
  const heldIds = new Set(chosen.ids)
  const coversUnloaded = published !== null && input.hasUnloadedCovered === true
  // Covered messages that were not loaded are older than all loaded ones, so the oldest loaded one must stay covered
  // too.
  const oldest = coversUnloaded ? conversation.messages.find((message) => isCovered(message, published)) : undefined
  const groups = groupsOf(conversation)
  for (const group of groups.toReversed()) {
    if (oldest !== undefined && group.includes(oldest)) break
    if (chosen.take(group, roomTokens - chosen.usedTokens) !== 'whole') break
  }
  // If a turn is too long to be shortened, more of the first messages use its tokens.
  for (const group of published === null ? groups : []) {
    const before = new Set(chosen.ids)
    const taken = chosen.take(group, roomTokens - chosen.usedTokens)
    for (const id of chosen.ids) if (!before.has(id)) heldIds.add(id)
    if (taken !== 'whole') break
  }
  if (chosen.ids.size === 0 && input.isAnswered !== true) return null
  return { ids: chosen.ids, heldIds: [...heldIds], caps: chosen.caps, coversUnloaded }
}

/** The messages that a context shows beside the summary of a published compaction. */
export interface ShownBeside extends Pick<Shown, 'ids' | 'caps'> {
  /** Messages that stay as the compaction left them. */
  readonly prunings: ReadonlyMap<string, Pruning>
}

/**
 * Chooses the messages to show beside a published summary: all that it does not cover, and the newest turns verbatim, one by
 * one, which the compaction condensed or covers. The first covered turn that does not fit whole is shortened to the rest.
 *
 * @returns null if the messages that the compaction left do not fit
 */
export function chooseBeside(
  conversation: Conversation,
  published: CompactionState,
  roomTokens: number,
  input: HistoryInput,
): ShownBeside | null {
  const chosen = new Chosen(conversation, roomTokens, input)
  const isHidden = (message: Message) => isCovered(message, published)
  for (const message of conversation.messages) {
    if (isHidden(message)) continue
    chosen.ids.add(message.id)
    chosen.usedTokens += costUnder(message, published)
  }
  if (chosen.usedTokens > roomTokens) return null
  const prunings = new Map(published.prunings)
  // Covered messages that were not loaded are older than all loaded ones, so the oldest loaded one must stay covered, too.
  const oldest = input.hasUnloadedCovered === true ? conversation.messages.find(isHidden) : undefined
  for (const group of groupsOf(conversation).toReversed()) {
    if (oldest !== undefined && group.includes(oldest)) break
    const hidden = group.filter(isHidden)
    const pruned = group.filter((message) => prunings.has(message.id) && !isHidden(message))
    const added = pruned.reduce((sum, message) => sum + rawCost(message) - costUnder(message, published), 0)
    // A call and its results are shown verbatim together.
    if (chosen.usedTokens + added <= roomTokens) {
      for (const { id } of pruned) prunings.delete(id)
      chosen.usedTokens += added
    }
    const taken = hidden.length === 0 ? 'whole' : chosen.take(hidden, roomTokens - chosen.usedTokens)
    if (taken !== 'none') for (const { id } of hidden) prunings.delete(id)
    if (taken !== 'whole') break
  }
  return { ids: chosen.ids, caps: chosen.caps, prunings }
}

/** The messages chosen so far, and their tokens. */
class Chosen {
  readonly ids = new Set<string>()
  readonly caps = new Map<string, number>()
  usedTokens = 0

  constructor(
    private readonly conversation: Conversation,
    private readonly roomTokens: number,
    private readonly input: HistoryInput,
  ) {}

  /**
   * Takes messages whole if they fit into `tokensMax`; otherwise shortened, unless they must be whole; otherwise not at
   * all.
   */
  take(
    messages: readonly Message[],
    tokensMax = this.roomTokens,
    form: 'whole' | 'any' = 'any',
  ): 'whole' | 'shortened' | 'none' {
    const added = messages.filter(({ id }) => !this.ids.has(id))
    const cost = added.reduce((sum, message) => sum + rawCost(message), 0)
    if (cost <= tokensMax) {
      for (const { id } of added) this.ids.add(id)
      this.usedTokens += cost
      return 'whole'
    }
    if (form === 'whole') return 'none'
    const part = { ...this.conversation, messages: added }
    const sizes = capSizes(part, null, new Map(), tokensMax, this.input)
    if ('neededTokens' in sizes) return 'none'
    for (const message of added) {
      const cap = sizes.caps.get(message.id)
      this.ids.add(message.id)
      if (cap !== undefined) this.caps.set(message.id, cap)
      this.usedTokens +=
        cap === undefined ? rawCost(message) : Math.min(rawCost(message), cap + overheadTokens(message))
    }
    return 'shortened'
  }
}

/** The first messages, which no summary covers: those of the published compaction, else the strategy's. */
function topGroups(
  { preserveTop }: ContextStrategy,
  conversation: Conversation,
  published: CompactionState | null,
): Message[][] {
  if (published !== null) {
    const top = new Set(published.topIds)
    return conversation.messages.filter(({ id }) => top.has(id)).map((message) => [message])
  }
  const groups: Message[][] = []
  let count = 0
  for (const group of groupsOf(conversation)) {
    if (count >= preserveTop) break
    groups.push(group)
    count += group.length
  }
  return groups
}

/** Messages between two legal cuts. */
function groupsOf({ messages, boundaries }: Conversation): Message[][] {
  const groups: Message[][] = []
  let group: Message[] = []
  for (const [at, message] of messages.entries()) {
    group.push(message)
    if (!boundaries[at] && at < messages.length - 1) continue
    groups.push(group)
    group = []
  }
  return groups
}
