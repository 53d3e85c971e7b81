import type { DeadLetter } from '@heddle/queue'
import { expect, test } from 'vitest'
import { BATCH_MAX, DeadLetterBatcher } from './dead-letter-batcher.js'

function letter(jobId: string, projectId = 'project'): DeadLetter {
  const error = { code: 'VALIDATION_ERROR' as const, detail: 'is none' }
  return { stage: 'ingest', jobId, payload: null, projectId, threadId: null, error, attempts: 1 }
}

/** A batcher whose pauses are ended by the test. */
function setUp() {
  const kept: string[][] = []
  const pauses: (() => void)[] = []
  const batcher = new DeadLetterBatcher(
    async (_projectId, letters) => {
      if (letters.some(({ jobId }) => jobId === 'bad')) throw new Error('refused')
      kept.push(letters.map(({ jobId }) => jobId))
    },
    {
      after(_ms, callback) {
        pauses.push(callback)
        return () => {}
      },
    },
  )
  return { batcher, kept, endPause: () => pauses.shift()?.() }
}

test('a single dead letter is stored at once, and those that follow soon are stored together', async () => {
  const { batcher, kept, endPause } = setUp()
  await batcher.add(letter('1'))
  const later = [batcher.add(letter('2')), batcher.add(letter('3'))]
  await batcher.add(letter('4', 'another'))
  expect(kept).toEqual([['1'], ['4']])
  endPause()
  await Promise.all(later)
  expect(kept).toEqual([['1'], ['4'], ['2', '3']])
})

test('many dead letters are kept in batcher of a bounded size', async () => {
  const { batcher, kept } = setUp()
  await Promise.all(Array.from({ length: 2 * BATCH_MAX }, (_, index) => batcher.add(letter(`${index}`))))
  expect(kept.map((group) => group.length)).toEqual([BATCH_MAX, BATCH_MAX])
})

test('a dead letter that the database refuses does not fail the others of its batch', async () => {
  const { batcher, kept } = setUp()
  const [good, bad] = [batcher.add(letter('good')), batcher.add(letter('bad'))]
  await expect(bad).rejects.toThrow('refused')
  await good
  expect(kept).toEqual([['good']])
})
