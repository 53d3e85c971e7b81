import { createClient } from '@heddle/client/http'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type DatabaseHome, openDatabaseHome, type Running } from '../cli/cli-support.js'

const THREAD = 'fix-login'
let home: DatabaseHome
let up: Running
let url: string
let client: ReturnType<typeof createClient>
let sql: postgres.Sql

beforeAll(async () => {
  home = await openDatabaseHome()
  sql = postgres(home.databaseUrl, { max: 1 })
  up = home.start(['up', '--port', '0', '--json'])
  url = (JSON.parse(await up.firstLine) as { url: string }).url
  client = createClient({ url })
  await client.agents.put('coder', { systemPrompt: 'You are an agent.', settings: { rollingWindow: null } })
  const messages = Array.from({ length: 40 }, (_, index) => ({
    role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: `${index}: ${'the rules of pruning '.repeat(40)}`,
  }))
  await client.messages.append({ agent: 'coder', thread: THREAD, messages })
  await client.items.put('coder', { type: 'rule', name: 'pruning', text: 'Rules of pruning.', include: 'agent' })
  await vi.waitFor(
    async () => {
      const { headSeq, cursors } = await client.threads.get(THREAD)
      expect(cursors).toEqual({ prune: headSeq, summarize: headSeq, embed: headSeq, remember: null })
    },
    { timeout: 60_000, interval: 200 },
  )
}, 120_000)
afterAll(async () => {
  await sql?.end()
  up?.kill('SIGTERM')
  await up?.ended
})

/** The rows of every table but that of the leases, which housekeeping takes meanwhile. */
async function countRows(): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'heddle' and tablename <> 'turns' order by tablename`
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from ${sql(`heddle.${name}`)}`
    counts[name] = row?.count ?? 0
  }
  return counts
}

const post = (body: object, headers: Record<string, string> = {}) =>
  fetch(`${url}/v1/threads/${THREAD}/contexts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

test('a preview is refused with messages, in the past, and unless its answer is awaited', async () => {
  const before = await countRows()
  const message = { role: 'user', content: 'one more' }
  const refusals = await Promise.all([
    post({ store: false, agent: 'coder', append: [message] }),
    post({ store: false, at: new Date().toISOString() }),
    post({ store: false }, { prefer: 'respond-async' }),
  ])
  for (const refusal of refusals) {
    expect(refusal.status).toBe(400)
    expect(await refusal.json()).toMatchObject({ code: 'VALIDATION_ERROR', field: 'store' })
  }
  expect(await countRows()).toEqual(before)
})

test('a preview is the context that would be built, and nothing of it is stored', async () => {
  const before = await countRows()
  const request = { thread: THREAD, budget: 4_000, format: 'openai-chat', message: 'the rules of pruning' } as const
  const preview = await client.contexts.build({ ...request, store: false })
  const printed = await home.heddle('context', 'build', '--thread', THREAD, '--budget', '3000', '--no-store', '--json')
  expect(printed.document.tokensUsed).toBeLessThanOrEqual(3_000)
  expect(await countRows()).toEqual(before)
  await expect(client.contexts.get(preview.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  const stored = await client.contexts.build(request)
  const { id: _, receipt, ...delivered } = preview
  const { id: __, receipt: ofStored, ...expected } = stored
  expect(delivered).toEqual(expected)
  expect(receipt.entries).toEqual(ofStored.entries)
  expect((await countRows())['contexts']).toBe((before['contexts'] ?? 0) + 1)
})

test('a preview fails as a build does, and is bounded', async () => {
  await expect(client.contexts.build({ thread: 'unknown', store: false })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(client.contexts.build({ thread: THREAD, budget: 1, store: false })).rejects.toMatchObject({
    code: 'BUDGET_TOO_SMALL',
  })
  const messages = Array.from({ length: 400 }, () => ({ role: 'user' as const, content: 'many words '.repeat(600) }))
  await client.messages.append({ agent: 'coder', thread: 'large', messages })
  await client.threads.put('large', { agent: 'coder', settings: { disableAutoSummarize: true } })
  await expect(client.contexts.build({ thread: 'large', budget: 1_000_000, store: false })).rejects.toMatchObject({
    code: 'PAYLOAD_TOO_LARGE',
    field: 'store',
  })
})
