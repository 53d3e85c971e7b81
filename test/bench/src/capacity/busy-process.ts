import { conversationOf } from '../contexts/conversation.js'

/** Some hundred kilobytes, parsed and written again and again: the caches see what other programs in JavaScript do to them. */
const messages = JSON.stringify(conversationOf(1_000))
const PART_MS = 20

function compute(): void {
  const untilMs = performance.now() + PART_MS
  while (performance.now() < untilMs) JSON.stringify(JSON.parse(messages))
  // Between two parts the process notices that it is to end.
  setImmediate(compute)
}

// The channel also closes when the parent was killed.
process.on('disconnect', () => process.exit())
process.send?.('ready')
compute()
