import { bounds } from '../base/bounds.js'
import { Batcher } from '../send/batcher.js'

interface Letter {
  readonly channel: string
  readonly text: string
}

/**
 * Sends replies and events to other processes, those of one tick together in lists: the jobs of a group end together, and
 * most of them were sent by the same few producers.
 */
export class MessageBatcher {
  readonly #batcher: Batcher<Letter>

  /** @param send ends within a bound */
  constructor(send: (channel: string, text: string) => Promise<void>) {
    this.#batcher = new Batcher<Letter>({
      itemsMax: bounds.batchJobsMax,
      weightMax: bounds.batchCharactersMax,
      flushesMax: bounds.batchesMax,
      flush: async (letters) => {
        await Promise.all(packed(letters).map(({ channel, text }) => send(channel, text)))
      },
      // What waits behind a message that was lost may be lost, too, and is not to be late besides.
      failsAll: () => true,
    })
  }

  /** @param text JSON, short enough for a notification */
  send(channel: string, text: string): Promise<void> {
    return this.#batcher.add({ channel, text }, text.length)
  }

  /** Resolves once everything that was handed in was sent or lost. */
  whenIdle(): Promise<void> {
    return this.#batcher.whenIdle()
  }
}

/** MessageBatcher of one channel as lists, as many in each as a message can hold. */
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
