import type { ArchiveSearchRequest } from '@heddle/contracts'
import { projectIdOf } from '@heddle/core'
import { createHashingEmbedder } from '@heddle/models'
import { selectArchive } from '@heddle/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientOn as clientOfSearches, index, store as storeMessages } from '../search/support.js'
import { asOwner } from '../store/erasure/erasure-support.js'
import { freshStore, newId, prepared, RECEIVED_AT_MS, type TestStore } from '../store/support.js'
import { archive, clientOn, PROJECT_NAME } from './support.js'

let database: TestStore
const MINUTE_MS = 60_000
const NOW_MS = RECEIVED_AT_MS + 120 * MINUTE_MS

/** The time of each message, in minutes before now. */
const kept = [
  { name: 'old view', minutesAgo: 110, contentType: 'file_view', filePaths: ['/repo/src/old.ts'], toolName: 'Read' },
  { name: 'view', minutesAgo: 50, contentType: 'file_view', filePaths: ['/repo/src/app/main.ts'], toolName: 'Read' },
  {
    name: 'same name',
    minutesAgo: 40,
    contentType: 'file_view',
    filePaths: ['/repo/lib/mysrc/x.ts'],
    toolName: 'view',
  },
  { name: 'failure', minutesAgo: 30, contentType: 'bash', failed: true, toolName: 'Bash', filePaths: [] },
  { name: 'success', minutesAgo: 20, contentType: 'bash', toolName: 'Bash', filePaths: [] },
  { name: 'search', minutesAgo: 10, contentType: 'grep', toolName: 'Grep', filePaths: [] },
]
const contents: Record<string, string> = {
  failure: 'npm test\nconnection refused by 127.0.0.1',
  success: 'all 12 tests passed',
  view: 'export function parseTokens() {}',
}

beforeAll(async () => {
  database = await freshStore()
  for (const { name, minutesAgo, ...entry } of kept) {
    const orderedAtMs = NOW_MS - minutesAgo * MINUTE_MS
    await archive(database, contents[name] ?? name, {
      message: prepared({ content: contents[name] ?? name, sourceId: `source ${name}` }, { orderedAtMs }),
      entry: { summary: `summary of ${name}`, ...entry },
    })
  }
  await archive(database, 'of another thread', {
    thread: 'other',
    entry: { contentType: 'bash', summary: 'elsewhere' },
  })
  await archive(database, 'of another project', { project: 'archive next door', entry: { summary: 'next door' } })
})
afterAll(() => database.drop())

const client = () =>
  clientOn(database, PROJECT_NAME, {
    nowMs: () => NOW_MS,
    monotonicMs: () => 0,
    wait: () => Promise.resolve(),
    after: () => () => {},
  })
const names = async (request: Parameters<ReturnType<typeof client>['archive']['list']>[0]) => {
  const { items, nextCursor } = await client().archive.list({ thread: 'cloth', ...request })
  expect(nextCursor).toBeNull()
  return items.map((item) => item.summary.replace('summary of ', ''))
}

describe('selective recall', () => {
  it.each([
    [{}, ['search', 'success', 'failure', 'same name', 'view', 'old view']],
    [{ kinds: ['file_view' as const], since: '1h' }, ['same name', 'view']],
    [{ kinds: ['bash' as const], failed: true }, ['failure']],
    [{ failed: false, kinds: ['bash' as const] }, ['success']],
    [{ kinds: ['bash' as const, 'grep' as const] }, ['search', 'success', 'failure']],
    [{ path: 'src/' }, ['view', 'old view']],
    [{ path: './src/app' }, ['view']],
    [{ path: 'main.ts' }, ['view']],
    [{ path: '/' }, ['same name', 'view', 'old view']],
    [{ path: '%' }, []],
    [{ tool: 'BASH' }, ['success', 'failure']],
    [{ until: '35m', since: new Date(NOW_MS - 50 * MINUTE_MS).toISOString() }, ['same name', 'view']],
    [{ agent: 'nobody' }, []],
  ])('%j', async (request, expected) => {
    expect(await names(request)).toEqual(expected)
  })

  it('distinguishes a missing thread from a thread without an archive', async () => {
    const { archive } = client()
    await expect(archive.list({ thread: 'nowhere' })).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'thread' })
    const searching = archive.search({ query: 'loom', thread: 'nowhere' })
    await expect(searching).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'thread' })
  })

  it('of an agent or a project spans its threads, and no other project', async () => {
    const { items } = await client().archive.list({ agent: 'weaver', kinds: ['bash'] })
    expect(items.map(({ thread }) => thread)).toEqual(['cloth', 'cloth', 'other'])
    expect((await client().archive.list()).items).toHaveLength(kept.length + 1)
  })

  it('returns references that recall the content that they show', async () => {
    const [hit] = (await client().archive.list({ thread: 'cloth', failed: true })).items
    expect(hit).toMatchObject({ sourceId: 'source failure', at: new Date(NOW_MS - 30 * MINUTE_MS).toISOString() })
    expect(await client().recall({ ref: hit?.ref ?? '' })).toMatchObject({
      content: contents['failure'],
      messageId: hit?.messageId,
    })
  })

  it('is paged, also over entries of the same moment', async () => {
    const message = () => prepared({ content: 'tied' }, { orderedAtMs: RECEIVED_AT_MS })
    for (let index = 0; index < 7; index++) {
      await archive(database, `tied ${index}`, {
        thread: 'tied',
        message: message(),
        entry: { summary: `tied ${index}` },
      })
    }
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await client().archive.list({ thread: 'tied', limit: 3, ...(cursor && { cursor }) })
      seen.push(...page.items.map(({ summary }) => summary))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(seen.sort()).toEqual(Array.from({ length: 7 }, (_, index) => `tied ${index}`))
  })

  it.each([
    [{ kinds: ['nonsense'] }, 'kinds.0'],
    [{ since: 'yesterday' }, 'since'],
    [{ since: '1h; drop table' }, 'since'],
    [{ path: '\0' }, 'path'],
    [{ limit: 0 }, 'limit'],
    [{ cursor: '1_2' }, 'cursor'],
    [{ order: 'asc' }, 'order'],
  ])('refuses %j', async (request, field) => {
    await expect(client().archive.list(request as object)).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field })
  })
})

describe('a search of the archive', () => {
  /** Results with their calls; the results are archived, the calls and the question are not. */
  const call = (id: string, name: string, given: object) =>
    prepared({ role: 'tool_use', content: '', toolCalls: [{ id, name, arguments: given }] } as never)
  const result = (toolCallId: string, toolName: string, content: string, minutesAgo: number, isError = false) =>
    prepared({ role: 'tool_result', toolCallId, toolName, content, isError } as never, {
      orderedAtMs: NOW_MS - minutesAgo * MINUTE_MS,
    })
  const embedder = createHashingEmbedder()
  const place = { project: PROJECT_NAME, agent: 'searcher', thread: 'searched' }
  const kept = [
    ['old-view', 'Read', { file_path: '/repo/src/net/socket.ts' }, 'export function connect() {}', 130, 'file_view'],
    [
      'new-view',
      'Read',
      { file_path: '/repo/src/net/socket.ts' },
      'export function connectSafely() {}',
      30,
      'file_view',
    ],
    ['failed-run', 'Bash', { command: 'npm test' }, 'connection refused by 127.0.0.1', 20, 'bash'],
    ['run', 'Bash', { command: 'npm test' }, 'all connections stood, 12 tests passed', 10, 'bash'],
  ] as const

  beforeAll(async () => {
    for (const [name, toolName, given, content, minutesAgo, contentType] of kept) {
      const failed = name === 'failed-run'
      await storeMessages(database, place, [call(name, toolName, given)])
      await archive(database, content, {
        ...place,
        message: result(name, toolName, content, minutesAgo, failed),
        entry: {
          summary: name,
          contentType,
          toolName,
          failed,
          filePaths: 'file_path' in given ? [given.file_path] : [],
        },
      })
    }
    await storeMessages(database, place, [prepared({ content: 'Is the connection refused?' })])
    await index(database, place, embedder)
  })

  const searching = (embedded = true) =>
    clientOfSearches(database, PROJECT_NAME, {
      clock: { nowMs: () => NOW_MS, monotonicMs: () => 0, wait: () => Promise.resolve(), after: () => () => {} },
      ...(embedded && { embedder }),
    })
  const found = async (query: string, request: Partial<ArchiveSearchRequest> = {}) => {
    const { items } = await searching().archive.search({ query, agent: 'searcher', ...request })
    return items.map(({ summary }) => summary)
  }

  it('returns only archived contents, best first, each with the call that recalls it in full', async () => {
    expect((await found('connection refused')).slice(0, 2)).toEqual(['failed-run', 'run'])
    expect((await found('socket.ts')).slice(0, 2).sort()).toEqual(['new-view', 'old-view'])
    const { items } = await searching().archive.search({ query: 'connection refused', thread: 'searched', limit: 1 })
    expect(items).toMatchObject([{ kind: 'bash', toolName: 'Bash', failed: true, score: expect.any(Number) }])
    expect((await searching().recall({ ref: items[0]?.ref ?? '' })).content).toBe('connection refused by 127.0.0.1')
    expect(
      (await searching().search({ query: 'connection refused', agent: 'searcher', limit: 1 })).items,
    ).toMatchObject([{ kind: 'user' }])
  })

  it.each<[Partial<ArchiveSearchRequest>, string[]]>([
    [{ kinds: ['file_view'], since: '1h' }, ['new-view']],
    [{ kinds: ['file_view'] }, ['new-view', 'old-view']],
    [{ path: 'src/net' }, ['new-view', 'old-view']],
    [{ path: 'net/socket.ts', until: '1h' }, ['old-view']],
    [{ tool: 'BASH' }, ['failed-run', 'run']],
    [{ failed: true }, ['failed-run']],
    [{ failed: false, kinds: ['bash'] }, ['run']],
    [{ kinds: ['grep'] }, []],
  ])('narrowed by %j keeps to it, by words and by meaning', async (request, expected) => {
    for (const by of ['words', 'meaning', 'both'] as const) {
      expect((await found('connect connection', { ...request, by })).sort()).toEqual(expected)
    }
  })

  it('finds by vectors what shares only parts of words, and names the model', async () => {
    // A search by words cannot find it: its stem occurs nowhere.
    expect(await found('reconnects', { by: 'words' })).toEqual([])
    expect(await found('reconnects', { by: 'meaning', limit: 1, kinds: ['file_view'] })).toHaveLength(1)
    const by = (legs: 'words' | 'meaning', embedded = true) =>
      searching(embedded).archive.search({ query: 'connect', agent: 'searcher', by: legs })
    expect(await by('meaning')).toMatchObject({ model: embedder.model, comparedBy: 'exact', degraded: null })
    expect(await by('words')).toMatchObject({ model: null, comparedBy: null, degraded: null, isComplete: true })
    expect(await by('meaning', false)).toMatchObject({ items: [], degraded: 'this client has no embedder' })
  })

  it('refuses a query that it cannot search for', async () => {
    const { archive } = searching()
    await expect(archive.search({ query: ' ' })).rejects.toMatchObject({ field: 'query' })
    await expect(archive.search({ query: 'x', by: 'luck' as never })).rejects.toMatchObject({ field: 'by' })
    await expect(archive.search({ query: 'x', agent: 'nobody' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('a long archive', () => {
  it('is searched within limits, page by page, by its index', async () => {
    const projectId = projectIdOf('long archive')
    const threadId = newId()
    await database.store.inProject(projectId, async (tx) => {
      await tx`
        insert into heddle.archive (
          id, thread_id, message_id, content_type, summary, content_hash, token_count, original_created_at, failed)
        select gen_random_uuid(), ${threadId}, gen_random_uuid(), 'bash', 'n ' || n, decode('00', 'hex'), 1,
          '2026-01-01'::timestamptz + n * interval '1 second', n = 1
        from generate_series(1, 25000) as n`
      // Autovacuum can run at any moment: it sees nothing of these entries yet, and the order of the index must not depend
      // on the planner's estimates after it.
      await asOwner(database.url, (sql) => sql`vacuum heddle.archive`)
      const rowsRead = async () => {
        const [row] = await tx<{ rows: number }[]>`
          select seq_tup_read + coalesce(idx_tup_fetch, 0) as rows from pg_stat_xact_user_tables
          where schemaname = 'heddle' and relname = 'archive'`
        return row?.rows ?? 0
      }
      for (const scope of [{ threadId }, {}]) {
        const [before, newest] = [await rowsRead(), await selectArchive(tx, { ...scope, limit: 5 })]
        expect(newest.entries.map(({ summary }) => summary)[0]).toBe('n 25000')
        const after = await rowsRead()
        expect(after - before).toBeLessThan(11_000)
        // The failed one is the oldest of all: found on the third page.
        let pages = 0
        let page = await selectArchive(tx, { ...scope, failed: true, limit: 5 })
        for (pages = 1; page.next !== null; pages++) {
          expect(page.entries).toEqual([])
          page = await selectArchive(tx, { ...scope, failed: true, limit: 5, before: page.next })
        }
        expect([pages, page.entries.map(({ summary }) => summary)]).toEqual([3, ['n 1']])
      }
    })
  })
})
