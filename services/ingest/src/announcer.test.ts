import { expect, test } from 'vitest'
import { Announcer } from './announcer.js'

const log = { warn: () => {} }

/** Tells that end when the test says so. */
function heldBack() {
  const told: [string, Map<string, number>][] = []
  const release: (() => void)[] = []
  const tell = (projectId: string, heads: ReadonlyMap<string, number>) => {
    told.push([projectId, new Map(heads)])
    return new Promise<void>((resolve) => release.push(resolve))
  }
  return { told, tell, releaseNext: () => release.shift()?.() }
}

test('what grows while a telling is under way is told once, with its last head', async () => {
  const { told, tell, releaseNext } = heldBack()
  const announcer = new Announcer(tell, log)
  announcer.announce('p', 'a', 1)
  announcer.announce('p', 'a', 2)
  announcer.announce('p', 'a', 4)
  announcer.announce('p', 'a', 3)
  announcer.announce('p', 'b', 1)
  expect(told).toEqual([['p', new Map([['a', 1]])]])
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
  await announcer.whenIdle()
  expect(told).toHaveLength(2)
})

test('projects do not wait for each other', () => {
  const { told, tell } = heldBack()
  const announcer = new Announcer(tell, log)
  announcer.announce('p', 'a', 1)
  announcer.announce('q', 'b', 1)
  expect(told.map(([projectId]) => projectId)).toEqual(['p', 'q'])
})

test('a telling that fails holds back none after it', async () => {
  const told: string[] = []
  const announcer = new Announcer(async (projectId) => {
    told.push(projectId)
    if (told.length === 1) throw new Error('away')
  }, log)
  announcer.announce('p', 'a', 1)
  announcer.announce('p', 'a', 2)
  await announcer.whenIdle()
  expect(told).toEqual(['p', 'p'])
})
