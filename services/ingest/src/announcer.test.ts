import { systemClock } from '@heddle/runtime'
import { expect, test } from 'vitest'
import { Announcer, GATHER_MS, GATHER_UNDER_LOAD_MS } from './announcer.js'

const log = { warn: () => {} }
const deps = { log, clock: systemClock }

/** Tells that end when the test says so. */
function deferred() {
  const told: [string, Map<string, number>][] = []
  const release: (() => void)[] = []
  const tell = (projectId: string, heads: ReadonlyMap<string, number>) => {
    told.push([projectId, new Map(heads)])
    return new Promise<void>((resolve) => release.push(resolve))
  }
  return { told, tell, releaseNext: () => release.shift()?.() }
}

/** Waits that end when the test says so. */
function heldWaits() {
  const waits: { ms: number; pass(): void }[] = []
  const wait = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((pass, reject) => {
      waits.push({ ms, pass })
      if (signal?.aborted) reject(signal.reason)
      signal?.addEventListener('abort', () => reject(signal.reason))
    })
  return { waits, wait }
}

test('what grows within a moment, or while a telling is under way, is told once, with its last head', async () => {
  const { told, tell, releaseNext } = deferred()
  const announcer = new Announcer(tell, deps)
  announcer.announce('p', 'a', 1)
  announcer.announce('p', 'a', 2)
  expect(told).toEqual([])
  await expect.poll(() => told).toEqual([['p', new Map([['a', 2]])]])
  announcer.announce('p', 'a', 4)
  announcer.announce('p', 'a', 3)
  announcer.announce('p', 'b', 1)
  releaseNext()
  await expect.poll(() => told.length).toBe(2)
  expect(told[1]).toEqual([
    'p',
    new Map([
      ['a', 4],
      ['b', 1],
    ]),
  ])
  releaseNext()
  await announcer.close()
  expect(told).toHaveLength(2)
})

test('nothing is told before its moment has passed, unless it is closed', async () => {
  const { told, tell, releaseNext } = deferred()
  const { waits, wait } = heldWaits()
  const announcer = new Announcer(tell, { log, clock: { wait } })
  announcer.announce('p', 'a', 1)
  await new Promise((resolve) => setImmediate(resolve))
  expect([waits.map(({ ms }) => ms), told.length]).toEqual([[GATHER_MS], 0])
  waits[0]?.pass()
  await expect.poll(() => told.length).toBe(1)
  announcer.announce('p', 'a', 2)
  releaseNext()
  await expect.poll(() => waits.length).toBe(2)
  const closing = announcer.close()
  await expect.poll(() => told.length).toBe(2)
  releaseNext()
  await closing
})

test('projects do not wait for each other', async () => {
  const { told, tell } = deferred()
  const announcer = new Announcer(tell, deps)
  announcer.announce('p', 'a', 1)
  announcer.announce('q', 'b', 1)
  await expect.poll(() => told.map(([projectId]) => projectId)).toEqual(['p', 'q'])
})

test('a telling that fails holds back none after it', async () => {
  const told: string[] = []
  const announcer = new Announcer(async (projectId) => {
    told.push(projectId)
    if (told.length > 1) return
    announcer.announce('p', 'a', 2)
    throw new Error('away')
  }, deps)
  announcer.announce('p', 'a', 1)
  await expect.poll(() => told).toEqual(['p', 'p'])
  await announcer.close()
})

test('under load, what comes soon after a telling gathers for longer, until it is closed', async () => {
  const told: number[] = []
  const { waits, wait } = heldWaits()
  const announcer = new Announcer(
    async (_projectId, heads) => {
      told.push(heads.size)
    },
    { log, clock: { wait } },
  )
  for (let number = 0; number < 100; number++) announcer.announce('p', `thread ${number}`, 1)
  waits[0]?.pass()
  await expect.poll(() => waits.map(({ ms }) => ms)).toEqual([GATHER_MS, GATHER_UNDER_LOAD_MS])
  announcer.announce('p', 'late', 1)
  announcer.announce('p', 'later', 1)
  expect(told).toEqual([100])
  await announcer.close()
  expect(told).toEqual([100, 2])
})
