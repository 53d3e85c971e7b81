import { countedTokensOf } from '../calibration/in-force.js'
import { reportedInput, reportedOutput } from '../calibration/reported.js'
import type { Message } from '../conversation/message.js'
import type { Lane } from './lane.js'

/** A provider counts up to a third more than our counter; a context is within its limit, and its answer comes on top. */
const OVER_LIMIT_MAX = 1.5
/** A provider counts less than our counter at times, and never less than half. */
const UNDER_COUNT_MIN = 0.5

/**
 * The reported tokens of a message if they can be those of a context of this lane. Replies to requests with another budget
 * report contexts of other lanes: a smaller one would hide the growth of this lane for ever, and a larger one would make it
 * compact over and over.
 *
 * @param countedTokens of a context of this lane at the message, by our own counter
 */
export function reportedIn(message: Message, countedTokens: number, { limitTokens, calibration }: Lane): number | null {
  const own = reportedTokens(message)
  const reported = own === null || calibration === undefined ? own : countedTokensOf(calibration, own)
  if (reported === null || reported > limitTokens * OVER_LIMIT_MAX) return null
  return reported < countedTokens * UNDER_COUNT_MIN ? null : reported
}

/**
 * Tokens that the provider reported for the request that this message answered, plus the answer. Trusted only if the
 * reply names its context: otherwise the provider may have counted a context that Heddle did not build, such as that of
 * a recorded session, and every further turn would look like an overflow.
 */
export function reportedTokens(message: Message): number | null {
  if (message.contextId === null || message.usage === null) return null
  const total = reportedInput(message.usage) + reportedOutput(message.usage)
  return total > 0 ? total : null
}
