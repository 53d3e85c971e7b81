import { COMPACTION_PROMPT } from './claude-sessions.js'
import type { Door, SentRequest } from './door.js'
import { fillerText } from './filler.js'
import type { Block, ReplaySession } from './session.js'

/** The window of the recorded models. */
const WINDOW_TOKENS = 200_000
/** The share of its window at which the client compacts. */
const COMPACT_AT = 0.5
/** About the length of the summaries in the recorded sessions. */
const SUMMARY_TOKENS = 2_500

/**
 * A client that compacts by itself at half of its window, with the model: one request with the whole history, and then a summary in
 * its place. The summary is generated text: only its length counts here.
 */
export function compactingClient(session: ReplaySession, tokensOf: (body: string) => number): Door {
  let from = 0
  let summary: Block | null = null
  let compactions = 0
  let length = 0
  return {
    send({ history, purpose }): SentRequest {
      // The recorded client began anew: it has no use for the earlier summary.
      const isShorter = history.length < length
      length = history.length
      if (isShorter) [from, summary] = [0, null]
      const current = () => (summary === null ? history : [summary, ...history.slice(from)])
      let body = session.body(current())
      if (purpose === 'compaction' || tokensOf(body) < COMPACT_AT * WINDOW_TOKENS)
        return { body, isNewEpoch: isShorter }
      const cut = lastTurnBegin(history)
      if (cut <= from + 1) return { body, isNewEpoch: isShorter }
      const asked = session.body([
        ...current().slice(0, current().length - (history.length - cut)),
        session.ask(COMPACTION_PROMPT),
      ])
      const text = fillerText(++compactions, SUMMARY_TOKENS)
      summary = session.ask(text)
      from = cut
      body = session.body(current())
      return { body, isNewEpoch: true, before: [{ body: asked, reply: session.answer([{ type: 'text', text }]) }] }
    },
  }
}

/** The last assistant message that later messages do not answer: the newest calls stay with their results. */
function lastTurnBegin(history: readonly Block[]): number {
  return history.findLastIndex(({ role }) => role === 'assistant')
}
