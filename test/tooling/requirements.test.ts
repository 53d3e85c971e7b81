import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { requirementsPage, requirementsPagePath } from './requirements/page.js'
import { problemsOf } from './requirements/problems.js'
import { parseText, readTexts, root } from './requirements/read.js'
import { titlesOf } from './requirements/titles.js'

const readFile = (path: string) => (existsSync(root + path) ? readFileSync(root + path, 'utf8') : undefined)

test('every requirement has its id once, and every test and decision that it names exists', () => {
  expect(problemsOf(readTexts(), readFile)).toEqual([])
})

test('docs/requirements.md agrees with docs/requirements/*.yaml; npm run docs:requirements writes it', () => {
  expect(readFileSync(requirementsPagePath, 'utf8')).toBe(requirementsPage(readTexts()))
})

const row = (id: string, fields = "tests: ['a.test.ts > a queue > is full']") =>
  `{ id: ${id}, says: It holds, ${fields} }`
const tableOf = (...rows: string[]) =>
  parseText(
    'docs/requirements/009.yaml',
    `{ title: A, about: B, last: 2, parts: [{ part: C, rows: [${rows.join(', ')}] }] }`,
  )
const files: Readonly<Record<string, string>> = {
  'a.test.ts':
    "describe('a queue', () => { it('is full', () => {}) })\ndescribe('a list', () => { it('is full', () => {}) })",
  'skipped.test.ts': "describe.skip('a queue', () => { it('is full', () => {}) })\ntest.todo('is empty')",
  'docs/decisions/a.md': '# A',
}
const problemsWith = (...rows: string[]) => problemsOf([tableOf(...rows)], (path) => files[path])

test('a complete table has no problem, and a test is also named by the end of its title', () => {
  expect(problemsWith(row('009-1'), row('009-2', 'decision: docs/decisions/a.md'))).toEqual([])
})

test.each([
  ['an id that is missing', [row('009-2')], '009-1 is missing'],
  ['an id at the end that is missing', [row('009-1')], '009-2 is missing'],
  ['an id that is used twice', [row('009-1'), row('009-2'), row('009-2')], '009-2 is used twice'],
  ['an id beyond the last', [row('009-1'), row('009-2'), row('009-3')], '009-3 is not between'],
  ['a row without a test', [row('009-1'), '{ id: 009-2, says: It holds }'], '009-2 has no test, no decision'],
  ['a test file that is gone', [row('009-1'), row('009-2', "tests: ['b.test.ts > a']")], 'no test file b.test.ts'],
  ['a title that was changed', [row('009-1'), row('009-2', "tests: ['a.test.ts > a']")], 'no test that is called "a"'],
  ['a title of two tests', [row('009-1'), row('009-2', "tests: ['a.test.ts > is full']")], '2 tests that are called'],
  [
    'a skipped test',
    [row('009-1'), row('009-2', "tests: ['skipped.test.ts > is full']")],
    'that is called "is full" and runs',
  ],
  ['a page that is gone', [row('009-1'), row('009-2', 'decision: docs/decisions/b.md')], 'no page docs/decisions/b.md'],
])('%s is reported', (_, rows, problem) => {
  expect(problemsWith(...rows)).toEqual([expect.stringContaining(problem)])
})

test('a field that a row does not have is refused with its place', () => {
  expect(() => tableOf(row('009-1', 'test: a'))).toThrow('docs/requirements/009.yaml: ')
})

test('titles are read with their describe blocks, also of tests that run for each of several cases', () => {
  const text = [
    "describe.each(modes)('windows on $title', () => {",
    "  describe.skipIf(missing)('of a thread', () => {",
    "    test.each`a | b`('show %s', () => {})",
    '  })',
    '})',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as a test file has it
    'for (const name of names) test(`is ${name}`, () => {})',
    "test.skip('is left out', () => {})",
    "run('is no test')",
  ].join('\n')
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as a test file has it
  expect(titlesOf(text)).toEqual(['windows on $title > of a thread > show %s', 'is ${name}'])
})
