import { expect, test } from 'vitest'
import { countWords, stemOf } from './words.js'

const wordsOf = (text: string) => [...countWords(text).keys()]

test('identifiers are split into their words', () => {
  for (const identifier of ['getUserById', 'get_user_by_id', 'GetUserById', 'GET_USER_BY_ID', 'get-user-by-id']) {
    expect(wordsOf(identifier)).toEqual(['get', 'user', 'by', 'id'])
  }
  expect(wordsOf('HTTPServer2')).toEqual(['http', 'server', '2'])
})

test('accents and letter case make no difference', () => {
  expect(wordsOf('Crème BRÛLÉE')).toEqual(['creme', 'brulee'])
  expect(wordsOf('ﬁle')).toEqual(['file'])
})

test('in scripts without spaces each character is a word, and other scripts keep their words', () => {
  expect(wordsOf('数据库')).toEqual(['数', '据', '库'])
  expect(wordsOf('сервер और שרת')).toEqual(['сервер', 'और', 'שרת'])
})

test('words are counted', () => {
  expect(countWords('Run, run! RUN')).toEqual(new Map([['run', 3]]))
})

test('English endings are dropped', () => {
  expect(['planned', 'planning', 'plans', 'plan'].map(stemOf)).toEqual(['plan', 'plan', 'plan', 'plan'])
  expect(['copies', 'copied', 'copy'].map(stemOf)).toEqual(['copy', 'copy', 'copy'])
  expect(['is', 'bed', 'sing'].map(stemOf)).toEqual(['is', 'bed', 'sing'])
})
