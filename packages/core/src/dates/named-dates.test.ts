import { expect, test } from 'vitest'
import { isoDate, namedDates, yearlessDate } from './named-dates.js'

/** A Wednesday. */
const SAID = Date.parse('2023-05-10T12:00:00Z')
const datesIn = (text: string, at: number | null = SAID) => namedDates(text, at).map(isoDate)

test('dates are read in the usual spellings', () => {
  expect(datesIn('on 2023-05-07, May 7, 2022, 8th of May 2021 and June 2020')).toEqual([
    '2023-05-07',
    '2022-05-07',
    '2021-05-08',
    '2020-06',
  ])
})

test('a date without a year is the nearest to when it was said', () => {
  expect(datesIn('until April 3')).toEqual(['2023-04-03'])
  expect(datesIn('in the winter, on 28 December')).toEqual(['2022-12-28'])
  const [date] = namedDates('until April 3', null)
  expect(date && [isoDate(date), yearlessDate(date)]).toEqual([null, '04-03'])
})

test('dates said in relation to now are resolved', () => {
  expect(datesIn('yesterday, tomorrow and last night')).toEqual(['2023-05-09', '2023-05-11', '2023-05-09'])
  expect(datesIn('last Friday, next Wednesday, last Wednesday, this Thursday')).toEqual([
    '2023-05-05',
    '2023-05-17',
    '2023-05-03',
    '2023-05-11',
  ])
  expect(datesIn('two weeks ago, 3 days ago, a month ago, 10 years ago, last month, next year')).toEqual([
    '2023-04-26',
    '2023-05-07',
    '2023-04',
    '2013',
    '2023-04',
    '2024',
  ])
  expect(datesIn('yesterday', null)).toEqual([])
})

test('numbers and words that are no dates are not read as such', () => {
  expect(datesIn('may I have 12 of them, version 2023-99-99 or 45 March')).toEqual([])
})
