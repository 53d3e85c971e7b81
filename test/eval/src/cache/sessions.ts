import { ineligibleReason, isAssistantSide, type Message } from '@heddle/core'
import { toMessage } from '../messages.js'
import { readSessions } from '../sessions.js'

/** Shorter sessions need no context engine. */
const TOKENS_MIN = 100_000

export interface RecordedSession {
  readonly thread: string
  readonly messages: readonly Message[]
  /** The number of messages before each answer of the agent, which was the input of each request. */
  readonly requests: readonly number[]
}

export async function readLongSessions(dataDir: string): Promise<RecordedSession[]> {
  const sessions = (await readSessions(dataDir)).map(({ thread, messages: given }): RecordedSession => {
    const messages = given.map(toMessage).filter((message) => ineligibleReason(message) === null)
    return { thread, messages, requests: requestsIn(messages) }
  })
  return sessions.filter(({ messages }) => messages.reduce((sum, { tokens }) => sum + tokens, 0) > TOKENS_MIN)
}

/** A request was made wherever an assistant message follows another role. */
function requestsIn(messages: readonly Message[]): number[] {
  return messages.flatMap((message, at) => {
    const before = messages[at - 1]
    return before !== undefined && isAssistantSide(message) && !isAssistantSide(before) ? [at] : []
  })
}
