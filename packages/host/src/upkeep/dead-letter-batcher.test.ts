import type { DeadLetter } from '@heddle/queue'
import { expect, test } from 'vitest'
import { DeadLetterBatcher, LETTERS_AT_ONCE_MAX } from './dead-letter-batcher.js'

function letter(jobId: string, projectId = 'project'): DeadLetter {
  const error = { code: 'VALIDATION_ERROR' as const, detail: 'is none' }
  return { stage: 'ingest', jobId, payload: null, projectId, threadId: null, error, attempts: 1 }
}

/** Groups whose rest ends by hand. */
function setUp() {
  const kept: string[][] = []
  const rests: (() => void)[] = []
  const groups = new DeadLetterBatcher(
    async (_projectId, letters) => {
      if (letters.some(({ jobId }) => jobId === 'bad')) throw new Error('refused')
      kept.push(letters.map(({ jobId }) => jobId))
    },
    {
      after(_ms, callback) {
        rests.push(callback)
        return () => {}
      },
    },
  )
  return { groups, kept, endRest: () => rests.shift()?.() }
}

test('a lone dead letter is kept at once, and those that follow soon are kept together', async () => {
  const { groups, kept, endRest } = setUp()
  await groups.add(letter('1'))
  const later = [groups.add(letter('2')), groups.add(letter('3'))]
  await groups.add(letter('4', 'another'))
  expect(kept).toEqual([['1'], ['4']])
  endRest()
  await Promise.all(later)
  expect(kept).toEqual([['1'], ['4'], ['2', '3']])
})

test('many dead letters are kept in groups of a bounded size', async () => {
  const { groups, kept } = setUp()
  await Promise.all(Array.from({ length: 2 * LETTERS_AT_ONCE_MAX }, (_, index) => groups.add(letter(`${index}`))))
  expect(kept.map((group) => group.length)).toEqual([LETTERS_AT_ONCE_MAX, LETTERS_AT_ONCE_MAX])
})

test('a dead letter that the database refuses takes no other along', async () => {
  const { groups, kept } = setUp()
  const [good, bad] = [groups.add(letter('good')), groups.add(letter('bad'))]
  await expect(bad).rejects.toThrow('refused')
  await good
  expect(kept).toEqual([['good']])
})
