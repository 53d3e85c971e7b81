import { expect, test } from 'vitest'
import { measureProperty } from './property.js'

test('histories that are compacted twenty times while they grow stay complete, recallable and valid', async () => {
  const [figure] = await measureProperty(60)
  expect(figure).toMatchObject({ name: 'prune.property', value: 0 })
}, 120_000)
