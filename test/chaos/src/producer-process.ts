import { setTimeout as wait } from 'node:timers/promises'
import type { NewMessage } from '@heddle/client/interface'
import { HeddleError } from '@heddle/contracts'
import { inParallel } from '@heddle/test-support/parallel'
import type { LedgerEntry } from './ledger.js'
import { takePart, type UserClient, type UserPlace } from './part.js'
import { AGENT, contentHash, contentOf, type Lot, messageId, planLots, threadName } from './production.js'
import type { Size } from './sizes.js'

export type ProducerOrder = UserPlace & {
  readonly producer: number
  readonly size: Size
}

/** Its reports: the messages of one append, once it is acknowledged; the reason why it cannot continue. */
export type ProducerNews =
  | { readonly kind: 'acknowledged'; readonly thread: string; readonly entries: readonly LedgerEntry[] }
  | { readonly kind: 'failed'; readonly reason: string }

const APPENDS_AT_ONCE = 64
/** Long, since a repeated append sends its job again. */
const APPEND_DEADLINE_MS = 120_000
const RETRY_AFTER_MS = 200

const tell = (news: ProducerNews) => process.send?.(news)

takePart<ProducerOrder>('chaos-producer', async (client, { producer, size, seed }) => {
  try {
    await produce(client, planLots(seed, producer, size), { seed, producingMsMin: size.producingMsMin })
  } catch (error) {
    tell({ kind: 'failed', reason: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})

/** Sends everything at an even pace, and repeats each lot until it is acknowledged. */
async function produce(
  client: UserClient,
  lots: readonly Lot[],
  { seed, producingMsMin }: { seed: number; producingMsMin: number },
): Promise<void> {
  const startedAtMs = Date.now()
  await inParallel(lots, APPENDS_AT_ONCE, async (lot, index) => {
    const waitMs = startedAtMs + (index / lots.length) * producingMsMin - Date.now()
    if (waitMs > 0) await wait(waitMs)
    const messages = messagesOf(lot, seed, startedAtMs)
    if (lot.isRepeated) append(client, lot, messages, 'queued').catch(() => {})
    await appendUntilStored(client, lot, messages)
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

async function appendUntilStored(client: UserClient, lot: Lot, messages: readonly NewMessage[]): Promise<void> {
  for (;;) {
    try {
      return await append(client, lot, messages, 'stored')
    } catch (error) {
      if (!(error instanceof HeddleError) || error.disposition !== 'retry') throw error
    }
    await wait(RETRY_AFTER_MS)
  }
}

async function append(client: UserClient, { thread }: Lot, messages: readonly NewMessage[], ack: 'queued' | 'stored') {
  await client.messages.append({
    agent: AGENT,
    thread: threadName(thread),
    messages,
    ack,
    deadlineMs: APPEND_DEADLINE_MS,
  })
}

function toEntry({ first }: Lot) {
  return ({ id, content }: { id: string; content: string }, offset: number): LedgerEntry => ({
    id,
    index: first + offset,
    sha256: contentHash(content),
  })
}
