import type { Redis } from 'ioredis'
import { bounds } from '../base/bounds.js'
import type { Channels } from '../reply/channels.js'

/**
 * Channels over Redis publish / subscribe. After a lost connection the subscriptions are renewed here and not by ioredis,
 * which leaves an unhandled rejection if the connection is closed at that moment.
 */
export function createRedisChannels(publisher: Redis, subscriber: Redis, onError: (error: unknown) => void): Channels {
  const receivers = new Map<string, (text: string) => void>()
  subscriber.on('message', (channel: string, text: string) => receivers.get(channel)?.(text))
  subscriber.on('ready', () => {
    if (receivers.size > 0) subscriber.subscribe(...receivers.keys()).catch(onError)
  })
  return {
    answerBytesMax: bounds.answerBytesMax,
    async listen(channel, receive) {
      receivers.set(channel, receive)
      await subscriber.subscribe(channel)
    },
    async unlisten(channel) {
      receivers.delete(channel)
      await subscriber.unsubscribe(channel)
    },
    async send(channel, text) {
      await publisher.publish(channel, text)
    },
    async close() {
      receivers.clear()
    },
  }
}
