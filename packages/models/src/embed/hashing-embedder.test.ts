import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createHashingEmbedder } from './hashing-embedder.js'

async function similarity(left: string, right: string): Promise<number> {
  const [a, b] = await createHashingEmbedder().embed([left, right])
  return dot(a, b)
}

function dot(left: Float32Array | undefined, right: Float32Array | undefined): number {
  return (left ?? new Float32Array()).reduce((sum, value, index) => sum + value * (right?.[index] ?? 0), 0)
}

test('texts that share words are nearer than texts that do not', async () => {
  const question = 'How do we deploy the payment service?'
  const shared = await similarity(question, 'The payment service is deployed by the release pipeline.')
  const other = await similarity(question, 'My sister plays the guitar in a band on Fridays.')
  expect(shared).toBeGreaterThan(0.4)
  expect(other).toBeLessThan(0.2)
})

test('an identifier is near its words and near its relatives', async () => {
  expect(await similarity('getUserById', 'get the user by id')).toBeGreaterThan(0.6)
  expect(await similarity('getUserById', 'user_by_id')).toBeGreaterThan(0.6)
  expect(await similarity('getUserById', 'render the chart axis')).toBeLessThan(0.25)
})

test('forms of a word are near each other, also irregular ones', async () => {
  expect(await similarity('authenticated', 'authenticates')).toBeGreaterThan(0.8)
  expect(await similarity('authenticate', 'authentication')).toBeGreaterThan(
    (await similarity('authenticate', 'refrigerator')) + 0.05,
  )
})

test('a word that is repeated a hundred times does not drown the others', async () => {
  const repeated = `${'error '.repeat(100)} database migration`
  expect(await similarity(repeated, 'database migration')).toBeGreaterThan(0.2)
})

test('any text has a finite vector of unit length that does not depend on earlier texts', async () => {
  const used = createHashingEmbedder()
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), async (text) => {
      const [vector] = await used.embed([text])
      expect(dot(vector, vector)).toBeCloseTo(1, 4)
      expect(await createHashingEmbedder().embed([text])).toEqual([vector])
    }),
  )
})

test('the vectors of version 1 never change, because they are stored', async () => {
  const embedder = createHashingEmbedder()
  const [vector] = await embedder.embed(['Heddle keeps the threads of getUserById in order: 1, 2, 数据'])
  expect(embedder.model).toBe('heddle-hashing-384-v1')
  const rounded = Int32Array.from(vector ?? [], (value) => Math.round(value * 1e4))
  expect(rounded.reduce((hash, value) => Math.imul(hash ^ value, 0x01000193) >>> 0, 0x811c9dc5)).toMatchInlineSnapshot(
    `820590471`,
  )
})
