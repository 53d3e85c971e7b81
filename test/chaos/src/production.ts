import { createHash } from 'node:crypto'
import { chances, wholeNumber } from '@heddle/test-support/samples/chances'
import { textOf } from '@heddle/test-support/samples/texts'
import { v5 } from 'uuid'
import type { Size } from './sizes.js'

export const AGENT = 'producer'
/** A small budget, so that threads are compacted as they grow. */
export const agentSettings = { budget: 4_000, rollingWindow: null, remember: 'rules' } as const
export const PRODUCERS = 4

/** Messages of one thread that are appended together, with a position in the thread and a number. */
export interface Lot {
  /** From 0. */
  readonly thread: number
  /** The index of its first message within its thread. */
  readonly first: number
  readonly count: number
  /** The index of the lot within its thread. */
  readonly number: number
  /** Whether the producer sends it twice, like a producer that got no answer. */
  readonly isRepeated: boolean
}

const LOT_MESSAGES_MAX = 8
const REPEATED_SHARE = 0.05
/** How often a lot is sent before its predecessor in its thread. */
const OVERTAKEN_SHARE = 0.1

/** All lots of one producer, in the order of sending: its threads alternate, and now and then a lot overtakes another. */
export function planLots(seed: number, producer: number, size: Size): Lot[] {
  const chance = chances(seed + 10 + producer)
  const open = Array.from({ length: size.threads }, (_, thread) => thread)
    .filter((thread) => thread % PRODUCERS === producer)
    .map((thread) => ({ lots: cutIntoLots(thread, messagesOf(thread, size), chance), next: 0 }))
  const lots: Lot[] = []
  while (open.length > 0) {
    const index = wholeNumber(chance, 0, open.length - 1)
    const thread = open[index]
    if (thread === undefined) break
    const some = thread.lots.slice(thread.next, thread.next + (chance() < OVERTAKEN_SHARE ? 2 : 1)).reverse()
    lots.push(...some)
    thread.next += some.length
    if (thread.next === thread.lots.length) open.splice(index, 1)
  }
  return lots
}

function cutIntoLots(thread: number, messages: number, chance: () => number): Lot[] {
  const lots: Lot[] = []
  for (let first = 0; first < messages; ) {
    const count = Math.min(messages - first, wholeNumber(chance, 1, LOT_MESSAGES_MAX))
    lots.push({ thread, first, count, number: lots.length, isRepeated: chance() < REPEATED_SHARE })
    first += count
  }
  return lots
}

/** Every thread has the same number of messages, and the first ones also the remainder. */
function messagesOf(thread: number, { messages, threads }: Size): number {
  return Math.floor(messages / threads) + (thread < messages % threads ? 1 : 0)
}

export function threadName(thread: number): string {
  return `thread-${thread}`
}

const ID_NAMESPACE = '5f0c7f52-3c0e-4a51-9a55-0d4f2b8f6b1c'

/** Ids are as random as those of clients, and the same for the same seed. */
export function messageId(seed: number, thread: number, index: number): string {
  return v5(`${seed}/${thread}/${index}`, ID_NAMESPACE)
}

/** Ordinary texts, sometimes one that states a fact, and one that is hard to store: empty, NUL, half a surrogate pair, a long one. */
export function contentOf(thread: number, index: number): string {
  const text = textOf(thread * 1_009 + index, 60 + ((thread * 31 + index * 17) % 380))
  switch (index % 23) {
    case 2:
      return `${text}. The latency of loom ${thread} is ${index + 2} ms.`
    case 5:
      return `${text}\0 "quoted" \\u0000 \ud83e`
    case 11:
      return `${text} 機織り 🧵\r\n\ttab`
    case 17:
      return index % 2 === 0 ? '' : text.repeat(20)
    default:
      return text
  }
}

/** SHA-256 of a text's code units: unlike its UTF-8, they distinguish unpaired surrogates. */
export function contentHash(content: string): string {
  return createHash('sha256').update(Buffer.from(content, 'utf16le')).digest('hex')
}
