import { Gatherer } from '@heddle/runtime'
import { bounds } from '../base/bounds.js'
import { isTextWithin } from './wire-format.js'

interface ChannelMessage {
  readonly channel: string
  readonly text: string
}

/**
 * Sends replies and events to other processes. Those of one tick are sent together in lists: the jobs of a batch end
 * together, and most of them come from the same few producers.
 */
export class MessageBatcher {
  readonly #messages: Gatherer<ChannelMessage>

  /** @param send settles within a time limit */
  constructor(send: (channel: string, text: string) => Promise<void>) {
    this.#messages = new Gatherer<ChannelMessage>({
      itemsMax: bounds.batchJobsMax,
      weights: [{ of: ({ text }) => text.length, max: bounds.batchCharactersMax }],
      batchesMax: bounds.batchesMax,
      flush: async (messages) => {
        await Promise.all(packed(messages).map(({ channel, text }) => send(channel, text)))
      },
      // Messages may be lost. Those that wait are dropped with a failed one, because they would arrive too late.
      onRefused: () => 'reject-waiting',
    })
  }

  /** @param text JSON, short enough for a notification */
  send(channel: string, text: string): Promise<void> {
    return this.#messages.add({ channel, text })
  }

  /** Resolves once every message was sent or lost. */
  whenIdle(): Promise<void> {
    return this.#messages.whenIdle()
  }
}

/** Packs the texts of each channel into lists, as few as the size limit of a message allows. */
function packed(messages: readonly ChannelMessage[]): ChannelMessage[] {
  const lists: ChannelMessage[] = []
  for (const [channel, texts] of byChannel(messages)) {
    let list: string[] = []
    let bytes = 0
    const close = () => {
      if (list.length > 0) lists.push({ channel, text: `[${list.join(',')}]` })
      list = []
      bytes = 0
    }
    for (const text of texts) {
      const isSmall = isTextWithin(text, bounds.messageBytesMax)
      const size = isSmall ? Buffer.byteLength(text) + ','.length : bounds.messageBytesMax + 1
      if (bytes + size > bounds.messageBytesMax) close()
      list.push(text)
      bytes += size
    }
    close()
  }
  return lists
}

function byChannel(messages: readonly ChannelMessage[]): Map<string, string[]> {
  const texts = new Map<string, string[]>()
  for (const { channel, text } of messages) {
    const others = texts.get(channel)
    if (others) others.push(text)
    else texts.set(channel, [text])
  }
  return texts
}
