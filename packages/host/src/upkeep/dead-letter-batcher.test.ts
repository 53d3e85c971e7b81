import { RetryableError } from '@heddle/contracts'
import type { DeadLetter } from '@heddle/queue'
import { expect, test } from 'vitest'
import { DeadLetterBatcher, LETTERS_AT_ONCE_MAX } from './dead-letter-batcher.js'

function letter(jobId: string, projectId = 'project'): DeadLetter {
  const error = { code: 'VALIDATION_ERROR' as const, detail: 'is none' }
  return { stage: 'ingest', jobId, payload: null, projectId, threadId: null, error, attempts: 1 }
}

/** Groups whose waits end when the test says so. */
function setUp(keep: (jobIds: readonly string[]) => Promise<void> = async () => {}) {
  const kept: string[][] = []
  const waits: (() => void)[] = []
  const groups = new DeadLetterBatcher(
    async (_projectId, letters) => {
      const jobIds = letters.map(({ jobId }) => jobId)
      await keep(jobIds)
      kept.push(jobIds)
    },
    { wait: () => new Promise((resolve) => waits.push(resolve)) },
  )
  const endWait = async () => {
    await expect.poll(() => waits.length).toBe(1)
    waits.shift()?.()
  }
  return { groups, kept, endWait }
}

test('keeps a lone letter at once, and those that follow soon together', async () => {
  const { groups, kept, endWait } = setUp()
  await groups.add(letter('1'))
  const later = [groups.add(letter('2')), groups.add(letter('3'))]
  expect(kept).toEqual([['1']])
  await endWait()
  await Promise.all(later)
  expect(kept).toEqual([['1'], ['2', '3']])
})

test('lets no project wait for another', async () => {
  const { groups, kept } = setUp()
  await groups.add(letter('1'))
  await groups.add(letter('2', 'another'))
  expect(kept).toEqual([['1'], ['2']])
})

test('keeps many in groups of a bounded size, without a wait in between', async () => {
  const { groups, kept, endWait } = setUp()
  await groups.add(letter('first'))
  const many = Array.from({ length: 2 * LETTERS_AT_ONCE_MAX }, (_, index) => groups.add(letter(`${index}`)))
  await endWait()
  await Promise.all(many)
  expect(kept.map((group) => group.length)).toEqual([1, LETTERS_AT_ONCE_MAX, LETTERS_AT_ONCE_MAX])
})

test('keeps the others where one is refused, and tells of that one alone', async () => {
  const { groups, kept, endWait } = setUp(async (jobIds) => {
    if (jobIds.includes('bad')) throw new Error('refused')
  })
  await groups.add(letter('1'))
  const [good, bad] = [groups.add(letter('good')), groups.add(letter('bad'))]
  await endWait()
  await expect(bad).rejects.toThrow('refused')
  await good
  expect(kept).toEqual([['1'], ['good']])
})

test('fails all where the store is away, and goes on when it is back', async () => {
  let isAway = true
  const { groups, kept, endWait } = setUp(async () => {
    if (isAway) throw new RetryableError('SERVICE_UNAVAILABLE', 'away')
  })
  await expect(groups.add(letter('1'))).rejects.toThrow('away')
  const [second, third] = [groups.add(letter('2')), groups.add(letter('3'))]
  await endWait()
  await expect(second).rejects.toThrow('away')
  await expect(third).rejects.toThrow('away')
  isAway = false
  await endWait()
  await groups.add(letter('4'))
  expect(kept).toEqual([['4']])
})
