import type { Plugin } from '@opencode-ai/plugin'
import { eventsSince, failedCall, typedText } from './events.js'
import { Gateway } from './gateway.js'
import { outputOf } from './outputs.js'
import { Resumed } from './resumed.js'

/** Messages of a session that are read after an outage. */
const MESSAGES_MAX = 2_000

/**
 * Records sessions of OpenCode in Heddle, puts stubs with references in place of long outputs, and gives a session what it needs
 * after a compaction.
 *
 * Options, else the environment: `url` (`HEDDLE_URL`), `key` (`HEDDLE_KEY`), `query` (`HEDDLE_HOOK_QUERY`), and
 * `answerMs` and `retryMs`, the times to wait for an answer and to leave between attempts.
 */
export const Heddle: Plugin = async ({ client, directory }, options = {}) => {
  const { env } = process
  const optionOf = (name: string) => (typeof options[name] === 'string' ? options[name] : undefined)
  const numberOf = (name: string) => (typeof options[name] === 'number' ? options[name] : undefined)
  const gateway = new Gateway({
    url: optionOf('url') || env['HEDDLE_URL'] || 'http://127.0.0.1:4680',
    key: optionOf('key') || env['HEDDLE_KEY'],
    query: optionOf('query') ?? env['HEDDLE_HOOK_QUERY'] ?? '',
    answerMs: numberOf('answerMs'),
    retryMs: numberOf('retryMs'),
    async say(message) {
      const log = client.app.log({ body: { service: 'heddle', level: 'warn', message } })
      const toast = client.tui.showToast({ body: { title: 'Heddle', message, variant: 'warning' } })
      await Promise.allSettled([log, toast])
    },
    async history(session, sinceMs) {
      const given = { path: { id: session }, query: { limit: MESSAGES_MAX } }
      const { data } = await client.session.messages({ ...given, throwOnError: true })
      return eventsSince(data, sinceMs)
    },
  })
  const resumed = new Resumed(gateway)

  return {
    'chat.message': async ({ sessionID: session }, { message, parts }) => {
      resumed.ends(session)
      const text = typedText(parts)
      if (text.trim() === '') return
      await gateway.send({ type: 'said', role: 'user', id: message.id, text, session, directory })
    },
    'experimental.text.complete': async ({ sessionID: session, partID: id }, { text }) => {
      // The summary of a compaction is OpenCode's own.
      if (resumed.isSummarizing(session) || text.trim() === '') return
      await gateway.send({ type: 'said', role: 'assistant', id, text, session, directory })
    },
    'tool.execute.after': async ({ tool, sessionID: session, callID: id, args: input }, output) => {
      const shown = outputOf(output)
      const called = { type: 'called', id, tool, input, output: shown.text, session, directory } as const
      shown.change((await gateway.send({ ...called, ...(shown.isError && { isError: true }) })) ?? {})
    },
    'experimental.session.compacting': async ({ sessionID }, { context }) => {
      const text = await resumed.begins(sessionID, directory)
      if (text !== '') context.push(text)
    },
    'experimental.chat.messages.transform': async (_input, { messages }) => {
      await resumed.add(messages)
    },
    event: async ({ event }) => {
      if (event.type === 'session.compacted') resumed.ends(event.properties.sessionID)
      if (event.type === 'message.part.updated') {
        const failed = failedCall(event.properties.part)
        if (failed !== null) await gateway.send({ ...failed, directory })
      }
      if (event.type === 'session.deleted') {
        await gateway.send({ type: 'ended', reason: 'deleted', session: event.properties.info.id })
      }
    },
    dispose: async () => {
      await gateway.close()
    },
  }
}
