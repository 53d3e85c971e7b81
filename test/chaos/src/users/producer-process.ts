import { setTimeout as wait } from 'node:timers/promises'
import type { NewMessage } from '@heddle/client/interface'
import { inParallel } from '@heddle/test-support/parallel'
import type { LedgerEntry } from '../ledger.js'
import { AGENT, contentHash, contentOf, type Lot, messageId, planLots, threadName } from '../production.js'
import type { Size } from '../sizes.js'
import { takePart, type UserPlace } from './part.js'
import { refusalOf, type UserClient } from './user-client.js'

export type ProducerOrder = UserPlace & {
  readonly producer: number
  readonly size: Size
}

/** Its reports: the messages of one append, once it is acknowledged; an append that it repeats; the reason why it cannot continue. */
export type ProducerNews =
  | { readonly kind: 'acknowledged'; readonly thread: string; readonly entries: readonly LedgerEntry[] }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'failed'; readonly reason: string }

const APPENDS_AT_ONCE = 64
const RETRY_AFTER_MS = 200

const tell = (news: ProducerNews) => process.send?.(news)

let isEnough = false

process.on('message', (message: unknown) => {
  if (message === 'enough') isEnough = true
})

takePart<ProducerOrder>('chaos-producer', async (client, { producer, size, seed }) => {
  try {
    await produce(client, planLots(seed, producer, size), { ...size, seed })
  } catch (error) {
    tell({ kind: 'failed', reason: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})

interface Production extends Pick<Size, 'producingMsMin' | 'appendDeadlineMs'> {
  readonly seed: number
}

/** Sends everything at an even pace, until it is enough, and repeats each lot until it is acknowledged. */
async function produce(
  client: UserClient,
  lots: readonly Lot[],
  { seed, producingMsMin, appendDeadlineMs: deadlineMs }: Production,
): Promise<void> {
  const startedAtMs = Date.now()
  await inParallel(lots, APPENDS_AT_ONCE, async (lot, index) => {
    const waitMs = startedAtMs + (index / lots.length) * producingMsMin - Date.now()
    if (waitMs > 0 && !isEnough) await wait(waitMs)
    if (isEnough) return
    const messages = messagesOf(lot, seed, startedAtMs)
    if (lot.isRepeated) append(client, lot, { messages, ack: 'queued', deadlineMs }).catch(() => {})
    await appendUntilStored(client, lot, { messages, ack: 'stored', deadlineMs })
    tell({ kind: 'acknowledged', thread: threadName(lot.thread), entries: messages.map(toEntry(lot)) })
  })
}

/** The time orders the lots of a thread, whichever arrives first; the messages of a lot share it. */
function messagesOf({ thread, first, count, number }: Lot, seed: number, startedAtMs: number) {
  const sentAt = new Date(startedAtMs + number).toISOString()
  return Array.from({ length: count }, (_, offset) => ({
    id: messageId(seed, thread, first + offset),
    role: (first + offset) % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: contentOf(thread, first + offset),
    sentAt,
  }))
}

interface Appended {
  readonly messages: readonly NewMessage[]
  readonly ack: 'queued' | 'stored'
  readonly deadlineMs: number
}

async function appendUntilStored(client: UserClient, lot: Lot, appended: Appended): Promise<void> {
  for (;;) {
    try {
      return await append(client, lot, appended)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal?.disposition !== 'retry') throw error
      tell({ kind: 'refused', code: refusal.code })
    }
    await wait(RETRY_AFTER_MS)
  }
}

async function append(client: UserClient, { thread }: Lot, appended: Appended) {
  await client.messages.append({ agent: AGENT, thread: threadName(thread), ...appended })
}

function toEntry({ first }: Lot) {
  return ({ id, content }: { id: string; content: string }, offset: number): LedgerEntry => ({
    id,
    index: first + offset,
    sha256: contentHash(content),
  })
}
