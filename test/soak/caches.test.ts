import { countTokens, termsOf } from '@heddle/core'
import { createHashingEmbedder } from '@heddle/models'
import { retainedBytes } from '@heddle/test-support/retained-bytes'
import { expect, test } from 'vitest'

/** 100,000 characters around a long word that no text had before. */
function textAround(word: string): string {
  return `${surroundings} ${word} ${surroundings}`
}

const surroundings = 'the queue was empty when the worker began '.repeat(1_200)
const TEXTS = 100
const KEPT_BYTES_MAX = 2_000_000

function longWord(number: number): string {
  return `unfulfilled${[...String(number).padStart(4, '0')].map((digit) => 'qxzjvkwbgh'[Number(digit)]).join('')}`
}

test('counting tokens keeps nothing of the texts alive', async () => {
  countTokens('ready')
  const retained = await retainedBytes(() => {
    for (let index = 0; index < TEXTS; index++) countTokens(textAround(longWord(index)))
  })
  expect(retained).toBeLessThan(KEPT_BYTES_MAX)
})

test('finding the terms of texts keeps nothing of the texts alive', async () => {
  const retained = await retainedBytes(() => {
    for (let index = 0; index < TEXTS; index++) for (const _ of termsOf(textAround(longWord(index))));
  })
  expect(retained).toBeLessThan(KEPT_BYTES_MAX)
})

test('embedding texts by hashing keeps nothing of the texts alive', async () => {
  const embedder = createHashingEmbedder()
  const retained = await retainedBytes(async () => {
    for (let index = 0; index < TEXTS; index++)
      await embedder.embed([textAround(longWord(index)).slice(50_000, 52_000)])
  })
  expect(retained).toBeLessThan(KEPT_BYTES_MAX)
})
