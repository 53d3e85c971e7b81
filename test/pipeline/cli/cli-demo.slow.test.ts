import { readdir, writeFile } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startProtocolServer } from '../../support/src/servers/protocol-server.js'
import { openHome } from './cli-support.js'

const SESSION = Array.from({ length: 80 }, (_, index) =>
  JSON.stringify({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `Step ${index}: ${'the parser was made to read one more form of line. '.repeat(6)}`,
  }),
).join('\n')

test('the demo processes a real session from import to context in well under three minutes, and leaves nothing behind', {
  timeout: 180_000,
}, async () => {
  const home = await openHome()
  // Its scratch folder is created below the user's own one, so that leftovers would be visible.
  const running = home.under({ TMPDIR: home.dir }).start(['demo', '--json'])
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
  expect(document.where.summarizer).toBe('extractive')
  expect(document.summaryCosts).toMatchObject({ calls: 0, costUsd: 0 })
  expect(document.context.tokensAfter).toBeLessThanOrEqual(document.context.budget)
  expect(document.context.tokensBefore).toBeGreaterThan(document.context.tokensAfter)
  expect(document.recalled).toMatchObject({ identical: true })
  expect(document.steps.map(({ name }: { name: string }) => name)).toContain('stop everything')
  expect(await readdir(home.dir)).toEqual([])
})

test('with the key of a provider the demo has its summaries written by that provider, and says so', {
  timeout: 180_000,
}, async () => {
  const server = await startProtocolServer()
  onTestFinished(() => server.close())
  const home = await openHome({ OPENAI_API_KEY: 'key-of-a-test', OPENAI_BASE_URL: server.openAiUrl })
  await writeFile(home.path('session.jsonl'), SESSION)
  const { code, stdout, stderr } = await home.heddle('demo', 'session.jsonl', '--budget', '3000')
  expect(stderr).not.toContain('key-of-a-test')
  expect(code).toBe(0)
  expect(server.requests.length).toBeGreaterThan(0)
  expect(server.requests.every(({ key, model }) => key === 'key-of-a-test' && model === 'gpt-4o-mini')).toBe(true)
  expect(stdout).toContain('They spoke of: ')
  expect(stdout).toMatch(/written by openai gpt-4o-mini: \d+ calls, [\d,]+ tokens in, [\d,]+ out, about \$\d/)
  expect(stdout).not.toContain('key-of-a-test')
})

test('an unreachable provider does not delay the demo, which says that it continued without it', {
  timeout: 90_000,
}, async () => {
  const server = await startProtocolServer()
  // The port is closed.
  await server.close()
  const home = await openHome({ OPENAI_API_KEY: 'key-of-a-test', OPENAI_BASE_URL: server.openAiUrl })
  await writeFile(home.path('session.jsonl'), SESSION)
  const { code, document } = await home.heddle('demo', 'session.jsonl', '--budget', '3000', '--json')
  expect(code).toBe(0)
  expect(document.where).toMatchObject({
    summarizer: 'extractive',
    wentOn: expect.stringMatching(/^openai gpt-4o-mini failed .* built with the extractive summarizer instead$/),
  })
  expect(document.summaryCosts.calls).toBe(document.summaryCosts.failedCalls)
  expect(document.summary).toMatch(/\w/)
  expect(document.context.tokensAfter).toBeLessThanOrEqual(3_000)
  const settling = document.steps.find(({ name }: { name: string }) => name.startsWith('prune and summarize'))
  expect(settling.durationMs).toBeLessThan(30_000)
})
