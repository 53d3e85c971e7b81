import type { Recorded } from '../record/recorder.js'
import type { ExchangeDeps } from './deps.js'
import { prepareCover } from './prepare-cover.js'
import { NO_RECALLS, type RecalledFacts } from './recalled-facts.js'
import { type RelayedFacts, relayedRequestOf } from './relayed-request.js'
import type { ReplyCopy } from './reply-copy.js'
import { noteRecalls, noteUsage, type Sending, usageOf } from './send.js'

export interface KeptExchange extends Omit<RelayedFacts, 'sending' | 'usage' | 'status' | 'recalled'> {
  readonly reply: ReplyCopy
  /** Null for a reply that was relayed as it came. */
  readonly recalled: RecalledFacts | null
  /** Whether the caller got all of the reply. */
  readonly isWhole: boolean
}

/** Counts and stores an exchange that has ended, and prepares what its conversation may need next. */
export async function keepExchange(deps: ExchangeDeps, exchange: KeptExchange): Promise<void> {
  const { sending, passed } = exchange.decision
  if (passed !== null) deps.metrics.passed(passed)
  if (sending === null) return
  const { status } = exchange.reply
  const reading = readExchange(deps, exchange, sending)
  // A request that was refused was not answered: a client repeats it, or drops it.
  if (status === 0 || status === 200) await deps.recorder.record(sending.conversation, reading)
  else await deps.recorder.recordRefused(await reading)
  if (sending.mode === 'compact') await prepareCover(deps, sending)
}

/** Reads the reply, and counts what it cost. */
async function readExchange(deps: ExchangeDeps, exchange: KeptExchange, sending: Sending): Promise<Recorded> {
  const { reply, isWhole } = exchange
  const { protocol } = sending.request
  const said = isWhole ? await reply.read(protocol) : null
  const reported = said === null ? null : usageOf(protocol, said)
  const recalled = exchange.recalled ?? NO_RECALLS
  const usage = recalled.usage ?? reported
  // Further requests of one reply are longer than the one that was estimated.
  const counted = recalled.requests > 1 ? recalled.asked : reported
  if (counted !== null) noteUsage(deps, sending, counted)
  noteRecalls(deps, sending, recalled)
  deps.metrics.recalled(recalled.recalls)
  deps.metrics.exchanged(sending, usage)
  const row = relayedRequestOf({ ...exchange, recalled, sending, usage, status: reply.status })
  return { ...sending, reply: said, row }
}
