import { expect, test } from 'vitest'
import { normalizePath } from './paths.js'

test.each([
  ['./a//b/../c.ts', null, 'a/c.ts'],
  ['/a/./b.ts', null, '/a/b.ts'],
  ['src/a.ts', '/work', '/work/src/a.ts'],
  ['/src/a.ts', '/work', '/src/a.ts'],
  ['../a.ts', null, '../a.ts'],
  ['C:\\work\\a.ts', null, 'C:/work/a.ts'],
  ['file:///a.ts', null, '/a.ts'],
])('%s under %s is %s', (path, directory, expected) => {
  expect(normalizePath(path, directory)).toBe(expected)
})
