import fc from 'fast-check'
import { expect, test } from 'vitest'
import { queryTerms } from '../query.js'
import { TERM_CHARACTERS_MAX, termsOf } from './words.js'

const terms = (text: string) => [...termsOf(text)]

test.each([
  ['The deployments FAILED.', ['the', 'deploy', 'fail']],
  ["Caroline's dog doesn't bark", ['carolin', 'dog', 'doesnt', 'bark']],
  ['a well-known fact', ['a', 'well', 'known', 'fact']],
  ['getUserById()', ['getuserbyid', 'get', 'user', 'by', 'id']],
  ['MAX_RETRIES', ['max_retries', 'max', 'retri']],
  ['HTTPServer', ['httpserver', 'http', 'server']],
  ['see src/a/b.ts.', ['see', 'src/a/b.ts', 'b.ts', 'src', 'a', 'b', 'ts']],
  ['port 5432, or 3.14', ['port', '5432', 'or', '3.14', '3', '14']],
  ['naïve Café', ['naiv', 'cafe']],
  ['Ｆｕｌｌ width', ['full', 'width']],
  ['Добрый день', ['добрый', 'день']],
  ['ͺ ﷺ', ['\u0345', 'صلىاللهعليهوسلم']],
  ['नमस्ते दुनिया', ['नमस्ते', 'दुनिया']],
  ['東京に住む', ['東京', 'に', '住む']],
  ['key: value, other', ['kei', 'valu', 'other']],
  ['… — !?', []],
])('%s', (text, expected) => {
  expect(terms(text)).toEqual(expected)
})

test('a name is found whole and in parts, in any spelling', () => {
  expect(terms('why does getUserById fail')).toEqual(expect.arrayContaining(terms('getUserById')))
  for (const part of ['user', 'b.ts', 'src']) {
    expect(terms('getUserById in lib/src/a/b.ts')).toEqual(expect.arrayContaining(terms(part)))
  }
})

test('terms of any text are short, have no spaces and do not begin with the mark of non-words', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' })), (text) => {
      for (const term of terms(text)) {
        expect(term).not.toBe('')
        expect(term).not.toMatch(/\s|^=/)
        expect(term.isWellFormed()).toBe(true)
        expect([...term].length).toBeLessThanOrEqual(TERM_CHARACTERS_MAX)
      }
    }),
  )
})

test('a long text without spaces takes time linear in its length', () => {
  const startedAtMs = performance.now()
  for (const part of ['a', 'aB', 'a.', '東', '-', "a'"]) terms(part.repeat(100_000))
  expect(performance.now() - startedAtMs).toBeLessThan(10_000)
})

test('function words of a query are ignored, unless it has no others', () => {
  expect(queryTerms('When did Caroline go to the support group?')).toEqual(['carolin', 'go', 'support', 'group'])
  expect(queryTerms('to be or not to be')).toEqual(['to', 'be', 'or', 'not'])
  expect(queryTerms('?!')).toEqual([])
})
