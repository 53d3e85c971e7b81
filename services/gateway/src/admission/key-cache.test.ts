import type { Access } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { KeyCache, PERMIT_MS_MAX } from './key-cache.js'

const acme: Access = { project: 'acme', role: 'read' }

/** Runs all pending microtasks. */
const settled = () => new Promise<void>((done) => setImmediate(done))

/** A key store whose reads the test resolves by hand. */
function lookingUp() {
  const clock = new ManualClock()
  const asked: { key: string; answer(access: Access | null): Promise<void>; fail(): Promise<void> }[] = []
  const keys = new KeyCache({
    clock,
    read: (key) =>
      new Promise((resolve, reject) => {
        const answer = (access: Access | null) => {
          resolve(access)
          return settled()
        }
        const fail = () => {
          reject(new Error('the store is away'))
          return settled()
        }
        asked.push({ key, answer, fail })
      }),
  })
  const admit = async () => {
    const reading = keys.read('good')
    await settled()
    await asked.at(-1)?.answer(acme)
    expect(await reading).toEqual(acme)
  }
  return { clock, asked, keys, admit }
}

test('concurrent requests with the same key share one lookup', async () => {
  const { asked, keys } = lookingUp()
  const reading = Array.from({ length: 100 }, () => keys.read('good'))
  await settled()
  expect(asked.map(({ key }) => key)).toEqual(['good'])
  await asked[0]?.answer(acme)
  expect(await Promise.all(reading)).toEqual(reading.map(() => acme))
})

test('a key in use is refreshed in the background, and its callers do not wait for a busy store', async () => {
  const { clock, asked, keys, admit } = lookingUp()
  await admit()
  await clock.advance(600)
  expect(await keys.read('good')).toEqual(acme)
  await clock.advance(9_399)
  expect(await keys.read('good')).toEqual(acme)
  expect(asked).toHaveLength(2)
  await clock.advance(1)
  const waiting = keys.read('good')
  await settled()
  expect(asked).toHaveLength(3)
  await asked[2]?.answer(null)
  expect(await waiting).toBeNull()
})

test('a revoked key is refused as soon as a lookup reports it', async () => {
  const { clock, asked, keys, admit } = lookingUp()
  await admit()
  await clock.advance(600)
  expect(await keys.read('good')).toEqual(acme)
  await asked[1]?.answer(null)
  const waiting = keys.read('good')
  await settled()
  await asked[2]?.answer(null)
  expect(await waiting).toBeNull()
})

test('a key unused for a second is looked up before it is admitted', async () => {
  const { clock, asked, keys, admit } = lookingUp()
  await admit()
  await clock.advance(900)
  const refused = expect(keys.read('good')).rejects.toThrow('the store is away')
  await settled()
  await asked[1]?.fail()
  await refused
})

test('a failed lookup is repeated by the next request, and the cached key stays valid for less than a second', async () => {
  const { clock, asked, keys, admit } = lookingUp()
  await admit()
  await clock.advance(600)
  await keys.read('good')
  await asked[1]?.fail()
  expect(await keys.read('good')).toEqual(acme)
  expect(asked).toHaveLength(3)
  await asked[2]?.fail()
  await clock.advance(600)
  const refused = expect(keys.read('good')).rejects.toThrow('the store is away')
  await settled()
  await asked[3]?.fail()
  await refused
})

test('lookups of unknown keys are limited in number and concurrency, and known keys are admitted meanwhile', async () => {
  const { asked, keys, admit } = lookingUp()
  await admit()
  const strangers = Array.from({ length: 1_000 }, (_, index) => keys.read(`stranger-${index}`))
  const ended = Promise.allSettled(strangers)
  await expect(keys.read('one more')).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfter: 1 })
  expect(await keys.read('good')).toEqual(acme)
  expect(asked).toHaveLength(1 + 8)
  for (let next = 1; next <= strangers.length; next++) {
    await (next % 5 === 0 ? asked[next]?.fail() : asked[next]?.answer(null))
    expect(asked.length).toBe(1 + Math.min(next + 8, strangers.length))
  }
  expect((await ended).filter(({ status }) => status === 'rejected')).toHaveLength(200)
  const after = keys.read('later')
  await settled()
  await asked.at(-1)?.answer(acme)
  expect(await after).toEqual(acme)
})

test('an unknown key that gets no permit in time is refused, and leaves the permit to later ones', async () => {
  const { clock, asked, keys } = lookingUp()
  const underWay = Array.from({ length: 8 }, (_, index) => keys.read(`stranger-${index}`))
  await settled()
  const waiting = expect(keys.read('late')).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfter: 1 })
  await clock.advance(PERMIT_MS_MAX)
  await waiting
  const later = keys.read('later')
  for (const { answer } of [...asked]) await answer(null)
  expect(await Promise.all(underWay)).toEqual(underWay.map(() => null))
  expect(asked.map(({ key }) => key).slice(8)).toEqual(['later'])
  await asked[8]?.answer(acme)
  expect(await later).toEqual(acme)
})
