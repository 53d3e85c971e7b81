import { ineligibleReason } from './eligibility.js'
import type { Message } from './message.js'
import { inConversationOrder } from './order.js'
import { isAssistantSide, pairToolCalls, type ToolPairs, turnBoundaries } from './turns.js'

/** The eligible messages of a thread, read once: in order, paired, with the boundaries at which it may be cut. */
export interface Conversation {
  readonly messages: readonly Message[]
  readonly pairs: ToolPairs
  /** `true` at `index`: a cut right after that message splits no turn. */
  readonly boundaries: readonly boolean[]
  /** Messages that no compaction may touch: pinned ones, with the turns they belong to. */
  readonly keptRaw: ReadonlySet<string>
  /**
   * Messages whose pruning was undone, with the runs they belong to, oldest first. Unlike pinned messages they may be
   * compacted again.
   */
  readonly undone: readonly (readonly Message[])[]
}

/** @param messages of one thread in any order; ineligible ones are skipped */
export function readConversation(messages: readonly Message[]): Conversation {
  const eligible = inConversationOrder(messages.filter((message) => ineligibleReason(message) === null))
  const pairs = pairToolCalls(eligible)
  const boundaries = turnBoundaries(eligible, pairs)
  const turns = markedTurns(eligible, pairs, boundaries)
  const keptRaw = new Set(turns.filter(hasPin).flatMap((turn) => turn.map((message) => message.id)))
  return { messages: eligible, pairs, boundaries, keptRaw, undone: turns.filter((turn) => !hasPin(turn)) }
}

const read = new WeakMap<readonly Message[], { readonly messages: readonly Message[]; readonly read: Conversation }>()

/** The same, cached per list: contexts of an unchanged thread share one list. */
export function conversationOf(messages: readonly Message[]): Conversation {
  const known = read.get(messages)
  if (known !== undefined && areSame(known.messages, messages)) return known.read
  const conversation = readConversation(messages)
  read.set(messages, { messages: [...messages], read: conversation })
  return conversation
}

/** Whether two lists have the same messages; the owner of a list may have appended to it. */
export function areSame(one: readonly Message[], other: readonly Message[]): boolean {
  return one.length === other.length && one.every((message, index) => message === other[index])
}

function hasPin(turn: readonly Message[]): boolean {
  return turn.some((message) => message.pinned)
}

/**
 * The messages that are marked, by a pin or because their pruning was undone. A mark on a call or one of its results
 * extends to the whole run of calls, since a provider takes it whole or not at all. It does not extend to the part of
 * the run before its last legal cut: a mark must not reach back past a compaction.
 */
function markedTurns(messages: readonly Message[], pairs: ToolPairs, boundaries: readonly boolean[]): Message[][] {
  const turns: Message[][] = []
  const isMarked = (message: Message) => message.pinned || message.undone === true
  let run: Message[] = []
  const keepRunIfMarked = () => {
    const members = run.flatMap((message) => [
      message,
      ...(pairs.byCallMessage.get(message.id) ?? []).flatMap((pair) => (pair.result ? [pair.result] : [])),
    ])
    if (members.some(isMarked)) turns.push(members)
    run = []
  }
  for (const [at, message] of messages.entries()) {
    if (isAssistantSide(message)) {
      run.push(message)
      if (boundaries[at]) keepRunIfMarked()
      continue
    }
    keepRunIfMarked()
    if (isMarked(message) && !pairs.byResult.has(message.id)) turns.push([message])
  }
  keepRunIfMarked()
  return turns
}
