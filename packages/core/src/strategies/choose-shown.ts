import { overheadTokens, rawCost } from '../compaction/costs.js'
import { heldUndone } from '../compaction/plan.js'
import { type CompactionState, isCovered } from '../compaction/state.js'
import type { Conversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { type Caps, capSizes } from '../history/fit.js'
import type { ContextStrategy, HistoryInput } from './strategy.js'

/** What a context shows beside its summary. */
export interface Shown {
  readonly ids: ReadonlySet<string>
  /** Those of them that may stand before what the summary covers. */
  readonly heldIds: readonly string[]
  readonly caps: Caps
  /** Whether the published summary stands for messages, too, that were not loaded. */
  readonly coversUnloaded: boolean
}

/** The shares of the room that the first messages and the latest request may take; what is longer is shortened. */
const TOP_SHARE_MAX = 0.25
const REQUEST_SHARE_MAX = 0.25
/** The share of the room that messages may take whose pruning was undone; they are shown whole or as all others. */
const UNDONE_SHARE_MAX = 0.5

/**
 * Chooses what a room shows: the pins, the latest request, the first messages within their share, and the newest turns one
 * after the other. The turn that does not fit whole is shortened into what is left.
 *
 * @param published the compaction whose summary stands for what is not shown; null where one is made for the context
 * @returns null where nothing can be shown, and no new message follows
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
  // What the published summary covers and was not loaded is older than all that was: the oldest that was stays with it.
  const oldest = coversUnloaded ? conversation.messages.find((message) => isCovered(message, published)) : undefined
  const groups = groupsOf(conversation)
  for (const group of groups.toReversed()) {
    if (oldest !== undefined && group.includes(oldest)) break
    if (chosen.take(group, roomTokens - chosen.usedTokens) !== 'whole') break
  }
  // A turn that is too long to be shortened leaves room: more of the first messages take it.
  for (const group of published === null ? groups : []) {
    const before = new Set(chosen.ids)
    const taken = chosen.take(group, roomTokens - chosen.usedTokens)
    for (const id of chosen.ids) if (!before.has(id)) heldIds.add(id)
    if (taken !== 'whole') break
  }
  if (chosen.ids.size === 0 && input.isAnswered !== true) return null
  return { ids: chosen.ids, heldIds: [...heldIds], caps: chosen.caps, coversUnloaded }
}

/** The messages that were chosen so far, and what they take. */
class Chosen {
  readonly ids = new Set<string>()
  readonly caps = new Map<string, number>()
  usedTokens = 0

  constructor(
    private readonly conversation: Conversation,
    private readonly roomTokens: number,
    private readonly input: HistoryInput,
  ) {}

  /** Takes messages whole where they fit into `tokensMax`, else shortened unless they must be whole, else not at all. */
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

/** The messages that no summary covers though they are the first: those of the published compaction, else the strategy's. */
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

/** Messages between two places where a cut is legal. */
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
