import { setTimeout as wait } from 'node:timers/promises'
import { chances, wholeNumber } from '@heddle/test-support/samples/chances'
import { threadName } from '../production.js'
import { isShownAsBuilt } from '../rolling/shown-again.js'
import type { Size } from '../sizes.js'
import { takePart, type UserPlace } from './part.js'
import { refusalOf, type UserClient } from './user-client.js'

export type RequesterOrder = UserPlace & {
  readonly size: Size
  /** Whether it also gets each context by its id, and compares it with the built one. */
  readonly getsAgain?: boolean
}

/** The end of the wait for one context. */
export interface Settlement {
  readonly kind: 'settled'
  /** `refused`: with a typed error. `hung`: not at all, long after its deadline. */
  readonly end: 'built' | 'refused' | 'untyped' | 'hung'
  readonly isLate: boolean
  /** Whether the same context had other messages when it was got again. */
  readonly isChanged: boolean
  readonly detail: string
}

/** A wait may end this much later than its deadline. */
const LATE_AFTER_MS = 1_000
const HUNG_AFTER_MS = 30_000

takePart<RequesterOrder>('chaos-requester', request)

/** Requests a context at each signal, each with its own deadline. */
async function request(client: UserClient, { seed, size, getsAgain = false }: RequesterOrder): Promise<void> {
  const chance = chances(seed + 100)
  const settlements: Promise<void>[] = []
  while (settlements.length < size.contexts) {
    const thread = threadName(wholeNumber(chance, 0, size.threads - 1))
    const deadlineMs = wholeNumber(chance, size.contextDeadlineMsMin, size.contextDeadlineMsMax)
    if (!(await nextRequest())) break
    const settled = settle(client, { thread, deadlineMs, getsAgain })
    settlements.push(settled.then((settlement) => void process.send?.(settlement)))
  }
  await Promise.all(settlements)
}

let due = 0
let isEnough = false
let onChange = () => {}

process.on('message', (message: unknown) => {
  if (message === 'next') due++
  else if (message === 'enough') isEnough = true
  else return
  onChange()
})

/** @returns whether there is a next one */
async function nextRequest(): Promise<boolean> {
  if (due === 0 && !isEnough) await new Promise<void>((resolve) => (onChange = resolve))
  return due-- > 0 && !isEnough
}

interface Wait {
  readonly thread: string
  readonly deadlineMs: number
  readonly getsAgain: boolean
}

/** Timers of one process fire in order: a busy machine delays the deadline and this timer alike. */
async function settle(client: UserClient, { thread, deadlineMs, getsAgain }: Wait): Promise<Settlement> {
  let [isLate, isChanged] = [false, false]
  const late = setTimeout(() => {
    isLate = true
  }, deadlineMs + LATE_AFTER_MS)
  const giveUp = new AbortController()
  const hung = wait(deadlineMs + HUNG_AFTER_MS, undefined, { signal: giveUp.signal })
    .then(() => ({ end: 'hung' as const, detail: `thread ${thread}, deadline ${deadlineMs} ms` }))
    .catch(() => ({ end: 'untyped' as const, detail: '' }))
  const build = async () => {
    const context = await client.contexts.build({ thread, format: 'openai-chat' }, { deadlineMs })
    clearTimeout(late)
    if (getsAgain) isChanged = !(await isShownAsBuilt(client, context))
  }
  const built = build().then(
    () => ({ end: 'built' as const, detail: '' }),
    (error: unknown) => {
      const refusal = refusalOf(error)
      if (refusal === null) return { end: 'untyped' as const, detail: String(error) }
      return { end: 'refused' as const, detail: `${refusal.code}: ${refusal.message} (deadline ${deadlineMs} ms)` }
    },
  )
  const ended = await Promise.race([built, hung])
  const settlement = { kind: 'settled' as const, ...ended, isLate, isChanged }
  clearTimeout(late)
  giveUp.abort()
  return settlement
}
