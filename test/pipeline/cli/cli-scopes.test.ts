import { writeFile } from 'node:fs/promises'
import { freshDatabase, freshPrefix } from '@heddle/test-support'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Home, openHome } from './cli-support.js'

let database: Awaited<ReturnType<typeof freshDatabase>>
let home: Home

beforeAll(async () => {
  database = await freshDatabase()
  home = await openHome({ DATABASE_URL: database.url, HEDDLE_QUEUE_PREFIX: freshPrefix() })
  expect((await home.heddle('migrate')).code).toBe(0)
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
  const spoken = [
    ['main', hoursAgo(5), 'an old plan'],
    ['main', hoursAgo(1), 'why is it slow?'],
    ['research', hoursAgo(0.5), 'the index is missing'],
    ['private', hoursAgo(1), 'a secret'],
  ] as const
  for (const name of ['main', 'research', 'private']) {
    const lines = spoken.filter(([thread]) => thread === name)
    const text = lines.map(([, sentAt, content]) => JSON.stringify({ role: 'user', content, sentAt })).join('\n')
    await writeFile(home.path(`${name}.jsonl`), text)
  }
  const files = ['main.jsonl', 'research.jsonl', 'private.jsonl']
  expect((await home.heddle('import', ...files, '--agent', 'lead', '--format', 'heddle')).code).toBe(0)
  for (const rule of ['tone', 'pay'])
    await home.heddle('items', 'set', 'rule', rule, '--agent', 'lead', '--text', `About ${rule}.`)
  for (const rule of ['tone', 'pay'])
    expect((await home.heddle('items', 'set', 'rule', rule, '--thread', 'main')).code).toBe(0)
})
afterAll(() => database?.drop())

const build = (...argv: string[]) => home.heddle('context', 'build', '--thread', 'main', ...argv, '--json')
const saidIn = ({ document }: Awaited<ReturnType<typeof build>>) =>
  document.messages.map(({ content }: { content: string }) => content)

test('a context shows only the threads, the time range and the items in its flags', async () => {
  const bounded = ['--scope-threads', 'main,research', '--scope-since', '2h', '--scope-items', 'rule/tone']
  const briefing = await build(...bounded)
  expect(saidIn(briefing)).toEqual([
    'Rule: About tone.',
    '[thread "main"]\nwhy is it slow?',
    '[thread "research"]\nthe index is missing',
  ])
  expect(briefing.document.receipt.scope).toMatchObject({ threads: ['main', 'research'] })
  const explained = (await home.heddle('context', 'explain', briefing.document.id)).stdout
  expect(explained).toMatch(/^scope: main, research · since 20/m)
  expect(explained).toContain('outside of the scope: 1 items')
  expect(saidIn(await build('--scope-items', 'none'))).toEqual(['an old plan', 'why is it slow?'])
  expect(saidIn(await build())).toEqual(['Rule: About pay.', 'Rule: About tone.', 'an old plan', 'why is it slow?'])
})

test.each([
  [['--scope-threads', 'main,main'], 2, 'scope-threads'],
  [['--scope-threads', ''], 2, 'scope-threads'],
  [['--scope-items', 'tone'], 2, 'scope-items'],
  [['--scope-since', 'soon'], 2, 'scope-since'],
  [['--scope-threads', 'main,nowhere'], 1, 'scope.threads.1'],
  [['--scope-items', 'rule/none'], 1, 'scope.items'],
])('%j is refused with the field', async (argv, code, field) => {
  expect(await build(...argv)).toMatchObject({ code, error: { field } })
})
