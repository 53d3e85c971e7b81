import type { Redis } from 'ioredis'
import type { Channels } from '../channels.js'

/** Channels over Redis publish / subscribe. ioredis subscribes again by itself after a lost connection. */
export function createRedisChannels(publisher: Redis, subscriber: Redis): Channels {
  const receivers = new Map<string, (text: string) => void>()
  subscriber.on('message', (channel: string, text: string) => receivers.get(channel)?.(text))
  return {
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
