import type { Settings } from '@heddle/contracts'
import { costUnder } from '../compaction/state-costs.js'
import type { Conversation } from '../conversation/conversation.js'
import { defineStrategy } from './define.js'
import type { ContextStrategy } from './strategy.js'

/** Sliding window (docs/strategies.md): only the newest messages, without a summary of the others. */
export function createSlidingWindow({ slidingWindow }: Settings): ContextStrategy {
  return defineStrategy({
    name: 'sliding-window',
    key: '',
    preserveBottom: slidingWindow.keepLastN,
    leaveOut: (conversation, roomTokens) => slideWindow(conversation, slidingWindow.keepLastN, roomTokens),
  })
}

/** The newest messages, limited by number and by tokens, cut between turns. */
function slideWindow(conversation: Conversation, keepLastN: number, roomTokens: number): ReadonlyMap<string, string> {
  const { messages, boundaries, keptRaw } = conversation
  let start = messages.length
  let cost = 0
  for (let at = messages.length - 1; at >= 0 && messages.length - at <= keepLastN; at--) {
    const message = messages[at]
    if (!message) break
    cost += costUnder(message, null)
    const isLegal = at === 0 || boundaries[at - 1]
    if (isLegal && (cost <= roomTokens || start === messages.length)) start = at
    if (cost > roomTokens && start < messages.length) break
  }
  if (start === messages.length) start = lastTurnStart(boundaries)
  const leftOut = messages.slice(0, start).filter((message) => !keptRaw.has(message.id))
  return new Map(leftOut.map((message) => [message.id, 'before the sliding window']))
}

function lastTurnStart(boundaries: readonly boolean[]): number {
  for (let at = boundaries.length - 1; at > 0; at--) if (boundaries[at - 1]) return at
  return 0
}
