import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openHome } from './cli-support.js'

test('the demo shows the whole way of a real session in well under three minutes, and leaves nothing behind', {
  timeout: 180_000,
}, async () => {
  const home = await openHome()
  // Its scratch folder is made below the user's own one, so that what is left of it would be seen.
  const running = home.start(['demo', '--json'], { TMPDIR: home.dir })
  const { code, document, stderr } = await running.ended
  expect(stderr).toBe('')
  expect(code).toBe(0)
  expect(document.session.messages).toBeGreaterThanOrEqual(200)
  expect(document.session.failedResults).toBeGreaterThan(0)
  expect(document.stored).toMatchObject({
    stored: document.session.messages,
    repeated: 0,
    imported: document.session.messages,
  })
  expect(document.stored.eligible).toBe(document.stored.imported)
  expect(document.compactions).toBeGreaterThan(0)
  expect(document.prunings.condense).toBeGreaterThan(0)
  expect(document.summary).toMatch(/\w/)
  expect(document.context.tokensAfter).toBeLessThanOrEqual(document.context.budget)
  expect(document.context.tokensBefore).toBeGreaterThan(document.context.tokensAfter)
  expect(document.recalled).toMatchObject({ identical: true })
  expect(document.steps.map(({ name }: { name: string }) => name)).toContain('stop everything')
  expect(await readdir(home.dir)).toEqual([])
})
