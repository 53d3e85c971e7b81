import type { CompactionState } from '../compaction/state.js'
import { costUnder } from '../compaction/state-costs.js'
import type { Conversation } from '../conversation/conversation.js'

export const CROWDED_OUT = 'did not fit beside newer messages'

/**
 * Turns that may be left out if even the shortened history does not fit, in the order of omission: the oldest after the
 * first messages, then the first messages, oldest first. Pinned messages, the newest turn, and the user's latest
 * request are excluded.
 *
 * @returns the ids of the messages of each turn
 */
export function turnsThatMayGo(
  { messages, boundaries, keptRaw }: Conversation,
  state: CompactionState | null,
  leftOut: ReadonlyMap<string, string>,
): string[][] {
  const latestRequest = messages.findLast((message) => message.role === 'user')
  const turns: string[][] = []
  let isHeld = false
  let turn: string[] = []
  for (const [at, message] of messages.entries()) {
    isHeld ||= keptRaw.has(message.id) || message === latestRequest
    if (!leftOut.has(message.id) && costUnder(message, state) > 0) turn.push(message.id)
    if (!boundaries[at] || at === messages.length - 1) continue
    if (!isHeld && turn.length > 0) turns.push(turn)
    turn = []
    isHeld = false
  }
  const top = new Set(state?.topIds)
  const isTop = (ids: readonly string[]) => ids.some((id) => top.has(id))
  return [...turns.filter((ids) => !isTop(ids)), ...turns.filter(isTop)]
}

/** Further turns to leave out so that the rest fits, as few as possible; null if all of them are not enough. */
export function crowdOut(
  turns: readonly (readonly string[])[],
  leftOut: ReadonlyMap<string, string>,
  fits: (leftOut: ReadonlyMap<string, string>) => boolean,
): ReadonlyMap<string, string> | null {
  const without = (count: number) =>
    new Map([...leftOut, ...turns.slice(0, count).flatMap((ids) => ids.map((id) => [id, CROWDED_OUT] as const))])
  let [tooFew, enough] = [0, turns.length]
  if (!fits(without(enough))) return null
  while (enough - tooFew > 1) {
    const middle = Math.floor((tooFew + enough) / 2)
    if (fits(without(middle))) enough = middle
    else tooFew = middle
  }
  return without(enough)
}
