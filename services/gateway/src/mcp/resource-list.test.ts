import type { RemoteClient } from '@heddle/client/http'
import { expect, test } from 'vitest'
import { listResources } from './resource-list.js'

const OWNERS = ['a', 'b', 'c']

interface Asked {
  readonly limit?: number
  readonly cursor?: string
}

/** One page of a list, with a numeric cursor. */
function pageOf<Item>(all: readonly Item[], { limit = 100, cursor = '0' }: Asked) {
  const [from, to] = [Number(cursor), Number(cursor) + limit]
  return { items: all.slice(from, to), nextCursor: to < all.length ? String(to) : null }
}

/** A project in which every agent has `count` snapshots, every thread as many contexts, and the archive as many entries. */
function clientWith(count: number): RemoteClient {
  const owners = async ({ cursor = '' }: Asked) => {
    const name = OWNERS.find((each) => each > cursor)
    return { items: name === undefined ? [] : [{ name }], nextCursor: name ?? null }
  }
  const numbered = (prefix: string) => Array.from({ length: count }, (_, index) => `${prefix}${index}`)
  return {
    agents: { list: owners },
    threads: { list: owners },
    snapshots: {
      history: async (agent: string, page: Asked) =>
        pageOf(
          numbered(agent).map((id) => ({ id, timestamp: 't', description: null, messageCount: 1 })),
          page,
        ),
    },
    contexts: {
      list: async ({ thread, ...page }: Asked & { thread: string }) =>
        pageOf(
          numbered(thread).map((id) => ({ id, status: 'built', builtAt: 't', tokensUsed: 1, budget: 2 })),
          page,
        ),
    },
    archive: {
      list: async (page: Asked) =>
        pageOf(
          numbered('heddle/').map((ref) => ({ ref, kind: 'bash', thread: 'a', text: 'a line' })),
          page,
        ),
    },
  } as unknown as RemoteClient
}

async function listAll(client: RemoteClient): Promise<{ uris: string[]; pages: number }> {
  const uris: string[] = []
  let [cursor, pages]: [string | undefined, number] = [undefined, 0]
  do {
    const page: Awaited<ReturnType<typeof listResources>> = await listResources(client, cursor)
    uris.push(...page.resources.map(({ uri }) => uri))
    cursor = page.nextCursor
    pages++
  } while (cursor !== undefined)
  return { uris, pages }
}

test.each([0, 1, 49, 50, 51, 130])(
  'each snapshot, context and entry is listed once, with %i of each',
  async (count) => {
    const { uris, pages } = await listAll(clientWith(count))
    const expected = (kind: string, owners: readonly string[]) =>
      owners.flatMap((owner) => Array.from({ length: count }, (_, index) => `heddle://${kind}/${owner}${index}`))
    expect(uris).toEqual([
      ...expected('snapshots', OWNERS),
      ...expected('contexts', OWNERS),
      ...expected('recall', ['heddle%2F']),
    ])
    expect(pages).toBeLessThanOrEqual(1 + (count * 7) / 50)
  },
)

test('an invalid cursor is refused, and the error names the field', async () => {
  for (const cursor of ['', 'nonsense', Buffer.from('{"kind":"keys"}').toString('base64url')]) {
    await expect(listResources(clientWith(1), cursor)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      field: 'cursor',
    })
  }
})
