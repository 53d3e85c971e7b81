import { expect, it } from 'vitest'
import { ErasureLimiter } from './erasure-limiter.js'

it('lets three things be erased at once, each by one, and the next when one has ended or failed', async () => {
  const turns = new ErasureLimiter()
  const begun: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  const erase = (name: string, id: string) =>
    turns.take(id, () => {
      begun.push(name)
      return new Promise<void>((resolve, reject) => {
        ends.set(name, (error) => (error === undefined ? resolve() : reject(error)))
      })
    })
  const erased = [erase('a', '1'), erase('again a', '1'), erase('b', '2'), erase('c', '3'), erase('d', '4')]
  await settle()
  expect(begun).toEqual(['a', 'b', 'c'])
  ends.get('b')?.(new Error('away'))
  await expect(erased[2]).rejects.toThrow('away')
  await settle()
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
  ends.get('a')?.()
  await settle()
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'again a'])
  for (const end of ends.values()) end()
  await Promise.allSettled(erased)
})

it('lets go of who is not to wait any more', async () => {
  const turns = new ErasureLimiter()
  let end = () => {}
  const begun = turns.take('1', () => new Promise<void>((resolve) => (end = resolve)))
  const ending = new AbortController()
  const waiting = expect(turns.take('1', async () => {}, ending.signal)).rejects.toThrow('stop')
  await settle()
  ending.abort(new Error('stop'))
  await waiting
  await expect(turns.take('1', async () => {}, ending.signal)).rejects.toThrow('stop')
  end()
  await begun
  expect(await turns.take('1', async () => 'next')).toBe('next')
})

/** Lets everything run that waits for nothing. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
