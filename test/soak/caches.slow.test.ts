import { BuildInputCache, ContextMaker, PreviousContextCache, TokenCounter } from '@heddle/assemble'
import { countTokens, termsOf } from '@heddle/core'
import { createHashingEmbedder } from '@heddle/models'
import { packLines } from '@heddle/store'
import { retainedBytes } from '@heddle/test-support/retained-bytes'
import { expect, test } from 'vitest'
import { loadedThread } from './loaded-thread.js'

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

test('token counting retains no reference to its texts', async () => {
  countTokens('ready')
  const retained = await retainedBytes(() => {
    for (let index = 0; index < TEXTS; index++) countTokens(textAround(longWord(index)))
  })
  expect(retained).toBeLessThan(KEPT_BYTES_MAX)
})

test('term extraction retains no reference to its texts', async () => {
  const retained = await retainedBytes(() => {
    for (let index = 0; index < TEXTS; index++) for (const _ of termsOf(textAround(longWord(index))));
  })
  expect(retained).toBeLessThan(KEPT_BYTES_MAX)
})

test('the hashing embedder retains no reference to its texts', async () => {
  const embedder = createHashingEmbedder()
  const retained = await retainedBytes(async () => {
    for (let index = 0; index < TEXTS; index++)
      await embedder.embed([textAround(longWord(index)).slice(50_000, 52_000)])
  })
  expect(retained).toBeLessThan(KEPT_BYTES_MAX)
})

test('cached token counts retain no reference to the texts', async () => {
  const counter = new TokenCounter()
  counter.count(surroundings)
  const retained = await retainedBytes(() => {
    for (let index = 0; index < TEXTS; index++) counter.count(textAround(longWord(index)))
  })
  expect(counter.count(textAround(longWord(0)))).toBe(countTokens(textAround(longWord(0))))
  expect(retained).toBeLessThan(KEPT_BYTES_MAX)
})

/** The tables of weak maps keep the size that they once had, which belongs to no cache. */
function growTables(): void {
  const maker = new ContextMaker()
  const inputs = Array.from({ length: THREADS }, (_, index) => loadedThread(-index).input)
  for (const input of inputs) maker.make(input)
}

const THREADS = 200

test('the cached inputs of contexts and their derived values stay within their byte limit', async () => {
  const bytesMax = 8_000_000
  const [warm, maker] = [new BuildInputCache(bytesMax), new ContextMaker()]
  const make = (index: number) => {
    const loaded = loadedThread(index)
    warm.keep(`request ${index}`, loaded)
    const made = maker.make(loaded.input)
    made.jsonOf({ id: '', ...made.built })
    made.linesOf({ id: '', ...made.built }, () => false)
    made.digestOf({ id: '', ...made.built })
  }
  growTables()
  make(0)
  const retained = await retainedBytes(() => {
    for (let index = 1; index < THREADS; index++) make(index)
  })
  // A count that comes close is enough; twice as much is not.
  expect(retained).toBeGreaterThan(bytesMax / 4)
  expect(retained).toBeLessThan(bytesMax)
})

test('threads that grow past their budgets stay within the byte limit, too', async () => {
  const bytesMax = 4_000_000
  const [warm, maker] = [new BuildInputCache(bytesMax), new ContextMaker()]
  const grow = (index: number) => {
    const { input, ...loaded } = loadedThread(index, 200)
    const settings = { ...input.settings, budget: 3_000 }
    for (let count = 10; count <= 200; count += 10) {
      const grown = { ...input, settings, messages: input.messages.slice(0, count), headSeq: count }
      warm.keep(`request ${index}`, { ...loaded, input: grown })
      const made = maker.make(grown)
      made.jsonOf({ id: '', ...made.built })
      made.linesOf({ id: '', ...made.built }, () => false)
    }
  }
  grow(0)
  const retained = await retainedBytes(() => {
    for (let index = 1; index < 20; index++) grow(index)
  })
  expect(retained).toBeGreaterThan(bytesMax / 4)
  expect(retained).toBeLessThan(bytesMax)
})

test('the cache of the previous contexts of threads stays within its byte limit', async () => {
  const bytesMax = 2_000_000
  const tails = new PreviousContextCache(bytesMax)
  growTables()
  const retained = await retainedBytes(() => {
    for (let index = 0; index < THREADS; index++) {
      const { input } = loadedThread(index)
      const made = new ContextMaker().make(input)
      const lines = made.linesOf({ id: '', ...made.built }, () => false)
      const { asBase: base } = packLines(`context ${index}`, lines, null)
      tails.remember(`thread ${index}`, input.request, { base, parts: made.parts }, 0)
    }
  })
  expect(retained).toBeLessThan(bytesMax)
})
