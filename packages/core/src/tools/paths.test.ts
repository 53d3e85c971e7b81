import { expect, test } from 'vitest'
import { normalizePath } from './paths.js'

test.each([
  ['./a//b/../c.ts', null, 'a/c.ts'],
  ['/a/./b.ts', null, '/a/b.ts'],
  ['src/a.ts', '/repo', '/repo/src/a.ts'],
  ['/src/a.ts', '/repo', '/src/a.ts'],
  ['../a.ts', null, '../a.ts'],
  ['C:\\repo\\a.ts', null, 'C:/repo/a.ts'],
  ['file:///a.ts', null, '/a.ts'],
])('%s under %s is %s', (path, directory, expected) => {
  expect(normalizePath(path, directory)).toBe(expected)
})
