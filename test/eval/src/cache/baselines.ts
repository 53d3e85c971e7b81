import { type Message, readConversation } from '@heddle/core'
import { Account } from './account.js'
import type { RecordedSession } from './sessions.js'

/** All messages so far at each request: the best case of a provider's cache, as long as the model's window is large enough. */
export function replayRaw({ messages, requests }: RecordedSession, costOf: (message: Message) => number): Account {
  const account = new Account()
  let before = 0
  let sent = 0
  let at = 0
  for (const end of requests) {
    for (; at < end; at++) sent += costOf(messages[at] as Message)
    account.add({ sentTokens: sent, sharedTokens: before, stableBeforeTokens: before, isCompacted: false })
    before = sent
  }
  return account
}

/** The newest turns that fit the budget: once it is full, each request has another beginning than the previous one. */
export function replaySliding(
  { messages, requests }: RecordedSession,
  budget: number,
  costOf: (message: Message) => number,
): Account {
  const account = new Account()
  const { boundaries } = readConversation(messages)
  let startBefore = 0
  let sentBefore = 0
  for (const end of requests) {
    let start = startBefore
    let sent = messages.slice(start, end).reduce((sum, message) => sum + costOf(message), 0)
    for (; sent > budget && start < end - 1; start++) sent -= costOf(messages[start] as Message)
    for (; start > startBefore && start < end - 1 && !boundaries[start - 1]; start++)
      sent -= costOf(messages[start] as Message)
    const sharedTokens = start === startBefore ? sentBefore : 0
    account.add({ sentTokens: sent, sharedTokens, stableBeforeTokens: sentBefore, isCompacted: false })
    startBefore = start
    sentBefore = sent
  }
  return account
}
