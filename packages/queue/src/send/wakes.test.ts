import { AsyncLocalStorage } from 'node:async_hooks'
import type { WakeJob } from '@heddle/contracts'
import { expect, test } from 'vitest'
import {
  GATHER_MS_MIN,
  MESSAGES_GATHERED_MAX,
  MESSAGES_WORTH_A_WAKE,
  TICKS_PER_SECOND,
  WAKES_AT_ONCE_MAX,
  WAKES_PER_TICK,
  Wakes,
} from './wakes.js'

const thread = (number: number): WakeJob => ({ projectId: 'project', threadId: `thread ${number}` })

/** A stopped clock, whose timers the test resolves by hand. */
function setUp(wake: (threads: readonly WakeJob[]) => Promise<void> = async () => {}) {
  const woken: string[][] = []
  const waits: (() => void)[] = []
  const waitsMs = new Set<number>()
  const time = { nowMs: 0 }
  const wakes = new Wakes({
    wake: async (threads) => {
      woken.push(threads.map(({ threadId }) => threadId))
      await wake(threads)
    },
    clock: {
      nowMs: () => time.nowMs,
      monotonicMs: () => time.nowMs,
      wait: (ms, signal) =>
        new Promise((resolve, reject) => {
          waitsMs.add(ms)
          waits.push(resolve)
          signal?.addEventListener('abort', () => reject(signal.reason))
        }),
      after: () => () => {},
    },
    log: { warn: () => {} },
  })
  const exhaust = () => {
    for (let number = 0; number < WAKES_AT_ONCE_MAX; number++) wakes.due(thread(number), 1)
  }
  return { wakes, woken, waitsMs, time, exhaust, endWait: () => waits.shift()?.() }
}

test('wakes at once while few messages arrive', () => {
  const { wakes, time } = setUp()
  for (let number = 0; number < 10 * WAKES_AT_ONCE_MAX; number++) {
    time.nowMs += 1_000 / WAKES_AT_ONCE_MAX
    expect(wakes.due(thread(number), 1)).not.toBeNull()
  }
})

test('takes the second after one with many messages for a part of the load', () => {
  const { wakes, time, exhaust } = setUp()
  exhaust()
  expect(wakes.due(thread(100), 1)).toBeNull()
  time.nowMs += 1_000
  expect(wakes.due(thread(101), 1)).toBeNull()
  time.nowMs += 1_000
  expect(wakes.due(thread(102), 1)).not.toBeNull()
})

test('gathers threads under load, and wakes each once', async () => {
  const { wakes, woken, waitsMs, exhaust, endWait } = setUp()
  exhaust()
  for (let round = 0; round < 3; round++) {
    expect(wakes.due(thread(1), 1)).toBeNull()
    expect(wakes.due(thread(2), 1)).toBeNull()
  }
  expect(woken).toEqual([])
  // Many appends came before the first timer run, none before the second.
  const look = () => {
    endWait()
    return woken
  }
  await expect.poll(look).toEqual([['thread 1', 'thread 2']])
  expect([...waitsMs]).toEqual([1_000 / TICKS_PER_SECOND])
})

test('wakes some threads at each timer run under load, and every thread within half a minute', async () => {
  const { wakes, woken, time, exhaust, endWait } = setUp()
  const grow = (first: number, count: number) => {
    for (let number = first; number < first + count; number++) wakes.due(thread(number), 1)
  }
  exhaust()
  grow(1_000, 10 * WAKES_PER_TICK)
  time.nowMs += GATHER_MS_MIN
  endWait()
  await expect.poll(() => woken).toHaveLength(1)
  expect(woken[0]).toEqual(Array.from({ length: WAKES_PER_TICK }, (_, index) => `thread ${1_000 + index}`))
  exhaust()
  grow(2_000, WAKES_AT_ONCE_MAX)
  time.nowMs += 30_000
  exhaust()
  grow(3_000, WAKES_AT_ONCE_MAX + 1)
  endWait()
  await expect.poll(() => woken).toHaveLength(2)
  expect(woken[1]).toHaveLength(9 * WAKES_PER_TICK + WAKES_AT_ONCE_MAX)
})

test('wakes threads that grew little after those that grew more while the load lasts', async () => {
  const { wakes, woken, time, exhaust, endWait } = setUp()
  exhaust()
  for (let number = 0; number < 3 * WAKES_AT_ONCE_MAX; number++) wakes.due(thread(100 + number), 1)
  wakes.due(thread(1_000), MESSAGES_WORTH_A_WAKE)
  time.nowMs += GATHER_MS_MIN - 1
  endWait()
  await expect.poll(() => woken).toEqual([['thread 1000']])
  exhaust()
  wakes.due(thread(2_000), 1)
  time.nowMs += 1
  endWait()
  await expect.poll(() => woken).toHaveLength(2)
  expect(woken[1]).toEqual(Array.from({ length: WAKES_PER_TICK }, (_, number) => `thread ${100 + number}`))
})

test('wakes all that gathered once the load is over', async () => {
  const { wakes, woken, exhaust, endWait } = setUp()
  exhaust()
  for (let number = 0; number < 3 * WAKES_PER_TICK; number++) wakes.due(thread(number), MESSAGES_WORTH_A_WAKE)
  endWait()
  await expect.poll(() => woken).toHaveLength(1)
  expect(woken[0]).toHaveLength(WAKES_PER_TICK)
  wakes.due(thread(1_000), 1)
  endWait()
  await expect.poll(() => woken).toHaveLength(2)
  expect(woken[1]).toHaveLength(2 * WAKES_PER_TICK + 1)
})

test('wakes a thread that has grown much at once, also under load', () => {
  const { wakes, exhaust } = setUp()
  exhaust()
  expect(wakes.due(thread(1), MESSAGES_GATHERED_MAX - 1)).toBeNull()
  expect(wakes.due(thread(1), 1)).not.toBeNull()
  expect(wakes.due(thread(1), 1)).toBeNull()
})

test('wakes gathered threads when it closes, and later ones at once', async () => {
  const { wakes, woken, exhaust } = setUp()
  exhaust()
  wakes.due(thread(1), 1)
  await wakes.close()
  expect(woken).toEqual([['thread 1']])
  expect(wakes.due(thread(2), 1)).not.toBeNull()
})

test('wakes gathered threads in the trace of none of their appends', async () => {
  const traces = new AsyncLocalStorage<string>()
  const seen: (string | undefined)[] = []
  const { wakes, exhaust, endWait } = setUp(async () => void seen.push(traces.getStore()))
  exhaust()
  traces.run('append', () => wakes.due(thread(1), 1))
  endWait()
  await expect.poll(() => seen).toEqual([undefined])
})

test('continues after a failed wake', async () => {
  const { wakes, woken, exhaust, endWait } = setUp(() => Promise.reject(new Error('the queue is away')))
  exhaust()
  wakes.due(thread(1), 1)
  endWait()
  await expect.poll(() => woken).toHaveLength(1)
  wakes.due(thread(2), 1)
  endWait()
  await expect.poll(() => woken).toHaveLength(2)
})
