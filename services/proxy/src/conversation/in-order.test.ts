import { describe, expect, test } from 'vitest'
import { InOrder } from './in-order.js'

/** The names of works in the order in which they were finished. */
async function endedOf(works: readonly (readonly [key: string, name: string, ends: Promise<unknown>])[]) {
  const inOrder = new InOrder()
  const ended: string[] = []
  const running = works.map(([key, name, ends]) =>
    inOrder
      .run(
        key,
        async () => await ends,
        () => ended.push(name),
      )
      .catch(() => ended.push(`${name} failed`)),
  )
  await Promise.all(running)
  return ended
}

function open() {
  let end = () => {}
  const ends = new Promise<void>((resolve) => {
    end = resolve
  })
  return { ends, end: () => end() }
}

describe('works in order', () => {
  test('of one key are finished as they began, whichever is done first', async () => {
    const slow = open()
    const ended = endedOf([
      ['a', 'slow', slow.ends],
      ['a', 'fast', Promise.resolve().then(slow.end)],
    ])
    expect(await ended).toEqual(['slow', 'fast'])
  })

  test('of another key do not wait', async () => {
    const slow = open()
    const ended = endedOf([
      ['a', 'slow', slow.ends],
      ['b', 'other', Promise.resolve().then(() => setImmediate(slow.end))],
    ])
    expect(await ended).toEqual(['other', 'slow'])
  })

  test('that fail leave the next one as it is', async () => {
    const failing = Promise.reject(new Error('away'))
    expect(
      await endedOf([
        ['a', 'first', failing],
        ['a', 'second', Promise.resolve()],
      ]),
    ).toEqual(['first failed', 'second'])
  })
})
