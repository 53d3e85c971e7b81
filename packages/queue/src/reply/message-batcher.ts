import { Gatherer } from '@heddle/runtime'
import { bounds } from '../base/bounds.js'

interface Letter {
  readonly channel: string
  readonly text: string
}

/**
 * Sends replies and events to other processes, those of one tick together in lists: the jobs of a group end together, and
 * most of them were sent by the same few producers.
 */
export class MessageBatcher {
  readonly #letters: Gatherer<Letter>

  /** @param send ends within a bound */
  constructor(send: (channel: string, text: string) => Promise<void>) {
    this.#letters = new Gatherer<Letter>({
      itemsMax: bounds.batchJobsMax,
      weights: [{ of: ({ text }) => text.length, max: bounds.batchCharactersMax }],
      batchesMax: bounds.batchesMax,
      flush: async (letters) => {
        await Promise.all(packed(letters).map(({ channel, text }) => send(channel, text)))
      },
      // What waits behind a message that was lost may be lost, too, and is not to be late besides.
      onRefused: () => 'reject-waiting',
    })
  }

  /** @param text JSON, short enough for a notification */
  send(channel: string, text: string): Promise<void> {
    return this.#letters.add({ channel, text })
  }

  /** Resolves once everything that was handed in was sent or lost. */
  whenIdle(): Promise<void> {
    return this.#letters.whenIdle()
  }
}

/** Packs the texts of each channel into as few messages as their size limit allows: a message is a list of texts. */
function packed(letters: readonly Letter[]): Letter[] {
  const messages: Letter[] = []
  for (const [channel, texts] of byChannel(letters)) {
    let list: string[] = []
    let bytes = 0
    const close = () => {
      if (list.length > 0) messages.push({ channel, text: `[${list.join(',')}]` })
      list = []
      bytes = 0
    }
    for (const text of texts) {
      const size = Buffer.byteLength(text) + ','.length
      if (bytes + size > bounds.messageBytesMax) close()
      list.push(text)
      bytes += size
    }
    close()
  }
  return messages
}

function byChannel(letters: readonly Letter[]): Map<string, string[]> {
  const texts = new Map<string, string[]>()
  for (const { channel, text } of letters) {
    const others = texts.get(channel)
    if (others) others.push(text)
    else texts.set(channel, [text])
  }
  return texts
}
