import { countTokens } from '@heddle/core'
import { type CountText, requestParts, tokensIn } from '@heddle/test-support/providers/request-parts'
import type { RecordedRequest, ReplaySession } from './session.js'

/** Tokens of the body of a request. */
export function tokensOf({ protocol }: ReplaySession, body: string, count: CountText): number {
  return tokensIn(requestParts(protocol, JSON.parse(body) as Record<string, unknown>, count))
}

/** Tokens that the provider counted for one of ours, by the largest recorded request; 1 without a count. */
export function tokenRatio(session: ReplaySession, count: CountText): number {
  const total = ({ recorded }: RecordedRequest) =>
    recorded === null ? 0 : recorded.input + recorded.cacheRead + recorded.cacheWrite
  const largest = session.requests.reduce((one, other) => (total(other) > total(one) ? other : one))
  return total(largest) === 0 ? 1 : total(largest) / tokensOf(session, session.body(largest.history), count)
}

/** The same texts are in every request of a session. */
export function countedOnce(): CountText {
  const counts = new Map<string, number>()
  return (text) => {
    const known = counts.get(text)
    if (known !== undefined) return known
    const tokens = countTokens(text.toWellFormed())
    counts.set(text, tokens)
    return tokens
  }
}
