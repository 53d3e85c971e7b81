import { expect, test } from 'vitest'
import { planFaults } from './plan.js'
import { contentHash, messageId, PRODUCERS, planLots } from './production.js'
import { backendNames } from './servers.js'
import { fullSize, shortSize } from './sizes.js'

test('a seed yields the same faults and victims each time, and another seed yields others', () => {
  const planned = (seed: number) => {
    const { faults, nextVictim } = planFaults(seed, 'redis', fullSize)
    return { faults, victims: Array.from({ length: 20 }, nextVictim) }
  }
  expect(planned(7)).toEqual(planned(7))
  expect(planned(7)).not.toEqual(planned(8))
})

test.each(backendNames)('the full form on %s has all documented faults, in their order', (backend) => {
  const { faults } = planFaults(1, backend, fullSize)
  const count = (kind: string) => faults.filter((fault) => fault.kind === kind).length
  expect(count('redis-killed')).toBe(backend === 'redis' ? 10 : 0)
  expect(count('postgres-restarted')).toBe(5)
  expect(count('worker-paused')).toBe(12)
  expect(faults.map(({ atShare }) => atShare)).toEqual(faults.map(({ atShare }) => atShare).sort((a, b) => a - b))
})

test('producers send every message of their own threads once, and some batches before their predecessors', () => {
  const lots = Array.from({ length: PRODUCERS }, (_, producer) => planLots(3, producer, shortSize))
  for (const [producer, own] of lots.entries()) {
    expect(own.every(({ thread }) => thread % PRODUCERS === producer)).toBe(true)
  }
  const sent = lots
    .flat()
    .flatMap(({ thread, first, count }) =>
      Array.from({ length: count }, (_, offset) => messageId(3, thread, first + offset)),
    )
  expect(new Set(sent).size).toBe(shortSize.messages)
  expect(sent).toHaveLength(shortSize.messages)
  const latest = new Map<number, number>()
  const overtaken = lots.flat().filter(({ thread, number }) => {
    const isBehind = number < (latest.get(thread) ?? -1)
    latest.set(thread, Math.max(number, latest.get(thread) ?? -1))
    return isBehind
  })
  expect(overtaken.length).toBeGreaterThan(0)
})

test('hashes distinguish unpaired surrogates', () => {
  expect(contentHash('\ud83e')).not.toBe(contentHash('\ud83f'))
})
