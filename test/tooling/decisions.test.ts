import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { decisionsIndex, decisionsIndexPath, readDecision } from './pages/decisions.js'

test('the index of decisions names every page; npm run docs:decisions writes it', async () => {
  expect(await readFile(decisionsIndexPath, 'utf8')).toBe(decisionsIndex())
})

test('a decision without a date, or with another date than its file name, is refused with what to write', () => {
  expect(() => readDecision('2026-11-23-a.md', '# A\n\nText.')).toThrow('must begin with "# Title"')
  expect(() => readDecision('2026-11-23-a.md', '# A\n\n2026-11-22. Accepted.\n')).toThrow('"2026-11-23. Accepted."')
  expect(readDecision('2026-11-23-a.md', '# A\n\n2026-11-23. Accepted.\n')).toMatchObject({
    title: 'A',
    status: 'Accepted.',
  })
})
