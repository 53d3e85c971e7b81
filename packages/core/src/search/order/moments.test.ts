import { expect, test } from 'vitest'
import { isAboutRange, momentOf, namedMoments } from './moments.js'

const SAID_MS = Date.parse('2024-03-10T15:00:00Z')
const day = (date: string) => Date.parse(`${date}T00:00:00Z`)
const open = { fromMs: null, toMs: null }

test('moments are the beginnings of the days, months and years that a text names', () => {
  expect(namedMoments('on 7 May 2023, in June 2020, and yesterday', SAID_MS)).toEqual([
    day('2023-05-07'),
    day('2020-06-01'),
    day('2024-03-09'),
  ])
  expect(namedMoments('until 3 April, or yesterday', null)).toEqual([])
})

test('the moment of a message is the first that it names within the range, otherwise when it was said', () => {
  const named = [day('2023-05-07'), day('2024-01-02')]
  expect(momentOf(named, SAID_MS, open)).toBe(day('2023-05-07'))
  expect(momentOf(named, SAID_MS, { fromMs: day('2024-01-01'), toMs: null })).toBe(day('2024-01-02'))
  expect(momentOf([], SAID_MS, open)).toBe(SAID_MS)
})

test('a range includes its beginning and excludes its end', () => {
  const range = { fromMs: day('2023-05-07'), toMs: day('2023-05-08') }
  expect(isAboutRange([day('2023-05-07')], SAID_MS, range)).toBe(true)
  expect(isAboutRange([day('2023-05-08')], day('2023-05-07'), range)).toBe(false)
  expect(isAboutRange([], day('2023-05-07'), range)).toBe(true)
  expect(isAboutRange([], SAID_MS, range)).toBe(false)
})
