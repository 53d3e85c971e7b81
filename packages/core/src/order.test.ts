import { expect, test } from 'vitest'
import { proposePlaces } from './order.js'

test('an append proposes places in time that never go back', () => {
  expect(proposePlaces([null, 50, 40, null, 90], 10)).toEqual([10, 50, 50, 50, 90])
})
