import { expect, test } from 'vitest'
import { FirstTimes } from './first-times.js'

test('each key is new once, and beyond a thousand no key is', () => {
  const times = new FirstTimes()
  expect(['a', 'b', 'a'].map((key) => times.isFirst(key))).toEqual([true, true, false])
  for (let number = 0; number < 998; number++) expect(times.isFirst(String(number))).toBe(true)
  expect(times.isFirst('another')).toBe(false)
})
