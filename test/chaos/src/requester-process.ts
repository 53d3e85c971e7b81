import { setTimeout as wait } from 'node:timers/promises'
import { HeddleError } from '@heddle/contracts'
import { chances, wholeNumber } from '@heddle/test-support/samples/chances'
import { takePart, type UserClient, type UserPlace } from './part.js'
import { threadName } from './production.js'
import type { Size } from './sizes.js'

export type RequesterOrder = UserPlace & {
  readonly size: Size
}

/** The end of the wait for one context. */
export interface Settlement {
  readonly kind: 'settled'
  /** `refused`: with a typed error. `hung`: not at all, long after its deadline. */
  readonly end: 'built' | 'refused' | 'untyped' | 'hung'
  readonly isLate: boolean
  readonly detail: string
}

const DEADLINE_MS_MIN = 1_000
/** A wait may end this much later than its deadline. */
const LATE_AFTER_MS = 1_000
const HUNG_AFTER_MS = 30_000

takePart<RequesterOrder>('chaos-requester', request)

/** Requests a context at each signal, each with its own deadline. */
async function request(client: UserClient, { seed, size }: RequesterOrder): Promise<void> {
  const chance = chances(seed + 100)
  const settlements: Promise<void>[] = []
  while (settlements.length < size.contexts) {
    const thread = threadName(wholeNumber(chance, 0, size.threads - 1))
    const deadlineMs = wholeNumber(chance, DEADLINE_MS_MIN, size.contextDeadlineMsMax)
    await nextTurn()
    settlements.push(settle(client, thread, deadlineMs).then((settlement) => void process.send?.(settlement)))
  }
  await Promise.all(settlements)
}

let turns = 0
let onTurn = () => {}

process.on('message', (word: unknown) => {
  if (word !== 'next') return
  turns++
  onTurn()
})

async function nextTurn(): Promise<void> {
  if (turns === 0) await new Promise<void>((resolve) => (onTurn = resolve))
  turns--
}

/** Timers of one process fire in order: a busy machine delays the deadline and this timer alike. */
async function settle(client: UserClient, thread: string, deadlineMs: number): Promise<Settlement> {
  let isLate = false
  const late = setTimeout(() => {
    isLate = true
  }, deadlineMs + LATE_AFTER_MS)
  const giveUp = new AbortController()
  const hung = wait(deadlineMs + HUNG_AFTER_MS, undefined, { signal: giveUp.signal })
    .then(() => ({ end: 'hung' as const, detail: `thread ${thread}, deadline ${deadlineMs} ms` }))
    .catch(() => ({ end: 'untyped' as const, detail: '' }))
  const built = client.contexts.build({ thread, format: 'openai-chat' }, { deadlineMs }).then(
    () => ({ end: 'built' as const, detail: '' }),
    (error: unknown) =>
      error instanceof HeddleError
        ? { end: 'refused' as const, detail: `${error.code}: ${error.message} (deadline ${deadlineMs} ms)` }
        : { end: 'untyped' as const, detail: String(error) },
  )
  const ended = await Promise.race([built, hung])
  const settlement = { kind: 'settled' as const, ...ended, isLate }
  clearTimeout(late)
  giveUp.abort()
  return settlement
}
