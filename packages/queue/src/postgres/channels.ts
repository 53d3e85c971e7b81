import { Gatherer } from '@heddle/runtime'
import { bounds } from '../base/bounds.js'
import type { Channels } from '../reply/channels.js'
import type { PostgresListener } from './listener.js'

interface Message {
  channel: string
  text: string
}

interface Queryable {
  query(text: string, values?: readonly unknown[]): Promise<unknown>
}

/**
 * Channels over LISTEN / NOTIFY. A commit that notifies takes a lock of the whole server, so messages are sent in their own
 * statement, outside any transaction with data, and in batches.
 */
export function createPostgresChannels(pool: Queryable, listener: PostgresListener): Channels {
  const outbox = new Gatherer<Message>({
    itemsMax: bounds.batchJobsMax,
    weights: [{ of: ({ text }) => text.length, max: bounds.batchCharactersMax }],
    flush: async (messages) => {
      await pool.query(
        'SELECT pg_notify(channel, message) FROM unnest($1::text[], $2::text[]) AS sent (channel, message)',
        [messages.map(({ channel }) => channel), messages.map(({ text }) => text)],
      )
    },
  })
  return {
    answerBytesMax: bounds.answerInMessageBytesMax,
    listen: (channel, receive) => listener.listen(channel, receive),
    unlisten: (channel) => listener.unlisten(channel),
    send: (channel, text) => outbox.add({ channel, text }),
    close: () => listener.close(),
  }
}
