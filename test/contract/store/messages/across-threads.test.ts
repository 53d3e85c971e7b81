import { agentIdOf } from '@heddle/core'
import {
  type AgentListing,
  findAgentPlaces,
  findSourcePlaces,
  loadMessagePage,
  type MessagePage,
  type PlacedMessage,
  type ThreadPosition,
} from '@heddle/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodesOf, plansOf } from '../plans-of.js'
import {
  append,
  appendAll,
  appendOne,
  leaveMarks,
  newId,
  OTHER_PROJECT,
  PROJECT,
  prepared,
  RECEIVED_AT_MS,
  storeOfTests,
} from '../support.js'

const database = storeOfTests()

let agents = 0
const freshAgent = () => `agent ${++agents}`

interface Bounds {
  readonly sinceMs?: number
  readonly untilMs?: number
}

async function readAll(
  agent: string,
  limit: number,
  order: 'asc' | 'desc',
  { sinceMs = null, untilMs = null }: { sinceMs?: number | null; untilMs?: number | null } = {},
): Promise<PlacedMessage[][]> {
  const agentId = agentIdOf(PROJECT, agent)
  const pages: PlacedMessage[][] = []
  let after: ThreadPosition | null = null
  for (let hasMore = true; hasMore; ) {
    const listing: AgentListing = { agentId, after, limit: limit + 1, order, sinceMs, untilMs }
    const page: MessagePage = await database.store.inProject(PROJECT, async (tx) =>
      loadMessagePage(tx, await findAgentPlaces(tx, listing), limit),
    )
    pages.push([...page.messages])
    hasMore = page.hasMore
    after = page.messages.at(-1)?.place ?? null
  }
  return pages
}

const keysOf = (messages: readonly PlacedMessage[]) => messages.map(({ place }) => `${place.threadId} ${place.id}`)

describe('the history of an agent', () => {
  it('shows each message of all threads once, by time, whatever the page size', async () => {
    // Few times and ids, so that threads share some: copies of a conversation have the same ids.
    const ids = Array.from({ length: 8 }, newId)
    const place = fc.record({ thread: fc.nat({ max: 3 }), at: fc.nat({ max: 4 }), id: fc.nat({ max: 7 }) })
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(place, { selector: ({ thread, id }) => `${thread} ${id}`, minLength: 1, maxLength: 24 }),
        fc.integer({ min: 1, max: 9 }),
        fc.record({ sinceMs: fc.nat({ max: 4 }), untilMs: fc.nat({ max: 5 }) }, { requiredKeys: [] }),
        async (places, limit, bounds: Bounds) => {
          const agent = freshAgent()
          const stored: ThreadPosition[] = []
          for (const { thread, at, id } of places) {
            const message = prepared({ id: ids[id] ?? '' }, { orderedAtMs: RECEIVED_AT_MS + at })
            const { threadId } = await appendOne(
              database.store,
              append([message], { agent, thread: `${agent} ${thread}` }),
            )
            stored.push({ threadId, orderedAtMs: message.orderedAtMs, ordinal: 0, id: message.input.id })
          }
          const within = Object.fromEntries(
            Object.entries(bounds).map(([name, offset]) => [name, RECEIVED_AT_MS + offset]),
          ) as Bounds
          const expected = stored
            .filter(({ orderedAtMs }) => orderedAtMs >= (within.sinceMs ?? 0))
            .filter(({ orderedAtMs }) => orderedAtMs < (within.untilMs ?? Number.POSITIVE_INFINITY))
            .sort(
              (left, right) =>
                left.orderedAtMs - right.orderedAtMs ||
                (`${left.id} ${left.threadId}` < `${right.id} ${right.threadId}` ? -1 : 1),
            )
            .map(({ threadId, id }) => `${threadId} ${id}`)
          const oldestFirst = await readAll(agent, limit, 'asc', within)
          expect(keysOf(oldestFirst.flat())).toEqual(expected)
          expect(oldestFirst.every((page) => page.length <= limit)).toBe(true)
          expect(keysOf((await readAll(agent, limit, 'desc', within)).flat())).toEqual(expected.reverse())
        },
      ),
      { numRuns: 25 },
    )
  })

  it('returns large messages on short pages, and skips none', async () => {
    const agent = freshAgent()
    const large = 'x'.repeat(3_000_000)
    const call = { id: 'call', name: 'write', arguments: { text: large } }
    const texts = [{ content: large }, { content: large }, { content: large }, { content: 'small' }]
    const calls = texts.map((_, index) => ({ role: 'assistant' as const, content: `${index}`, toolCalls: [call] }))
    for (const [thread, inputs] of Object.entries({ texts, calls })) {
      const messages = inputs.map((input, index) => prepared(input, { orderedAtMs: RECEIVED_AT_MS + index }))
      await appendOne(database.store, append(messages, { agent, thread: `${agent} ${thread}` }))
    }
    const pages = await readAll(agent, 100, 'asc')
    expect(pages.map((page) => page.length)).toEqual([3, 3, 2])
    expect(new Set(keysOf(pages.flat())).size).toBe(8)
  })

  it('lists a restored message once, with its latest restore', async () => {
    const agent = freshAgent()
    const message = prepared()
    const { threadId } = await appendOne(database.store, append([message], { agent, thread: agent }))
    await leaveMarks(database.store, threadId, { ids: [message.input.id], orderedAtMs: RECEIVED_AT_MS + 5 })
    const [[only, ...others] = []] = await readAll(agent, 10, 'desc')
    expect(others).toEqual([])
    expect(only?.message).toMatchObject({ id: message.input.id, restored: { orderedAtMs: RECEIVED_AT_MS + 5 } })
  })

  it('reads one message of each thread, and those of a page', async () => {
    const agent = freshAgent()
    const appends = Array.from({ length: 60 }, (_, thread) =>
      append(
        Array.from({ length: 50 }, (_, index) =>
          prepared({}, { orderedAtMs: RECEIVED_AT_MS + thread * 1_000 + index }),
        ),
        { agent, thread: `${agent} ${thread}` },
      ),
    )
    for (const one of appends) await appendOne(database.store, one)
    const listing = { agentId: agentIdOf(PROJECT, agent), after: null, sinceMs: null, untilMs: null }
    const plans = await plansOf(database.store, PROJECT, (tx) =>
      findAgentPlaces(tx, { ...listing, limit: 11, order: 'desc' }),
    )
    const read = plans
      .flatMap(nodesOf)
      .filter((node) => node['Relation Name'] === 'messages')
      .reduce((sum, node) => sum + (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 1), 0)
    // 60 heads, and at most eleven of each thread that is in front: the planner stops when it has eleven in all.
    expect(read).toBeLessThan(60 + 11 * 11 + 1)
  })
})

describe('messages by their source', () => {
  const find = (sourceId: string, filter: { agentId?: string; threadId?: string } = {}, project = PROJECT) =>
    database.store.inProject(project, (tx) =>
      findSourcePlaces(tx, {
        sourceId,
        agentId: filter.agentId ?? null,
        threadId: filter.threadId ?? null,
        after: null,
        limit: 10,
        order: 'desc',
      }),
    )

  it('are found newest first, in all threads, an agent or a thread of their project alone', async () => {
    const [one, two] = [freshAgent(), freshAgent()]
    const at = (index: number) => prepared({ sourceId: 'chat-7' }, { orderedAtMs: RECEIVED_AT_MS + index })
    const first = await appendOne(database.store, append([at(1)], { agent: one, thread: `${one} a` }))
    const second = await appendOne(
      database.store,
      append([at(3), prepared({ sourceId: 'chat-8' })], { agent: one, thread: `${one} b` }),
    )
    const third = await appendOne(database.store, append([at(2)], { agent: two, thread: `${two} c` }))
    await appendAll(database.store, [append([at(4)])], OTHER_PROJECT)
    const threadsOf = async (...given: Parameters<typeof find>) =>
      (await find(...given)).map(({ threadId }) => threadId)
    expect(await threadsOf('chat-7')).toEqual([second.threadId, third.threadId, first.threadId])
    expect(await threadsOf('chat-7', { agentId: agentIdOf(PROJECT, one) })).toEqual([second.threadId, first.threadId])
    expect(await threadsOf('chat-7', { threadId: third.threadId })).toEqual([third.threadId])
    expect(await threadsOf('chat')).toEqual([])
    expect(await find('chat-7', {}, OTHER_PROJECT)).toHaveLength(1)
  })

  it('are found by their index', async () => {
    const listing = {
      sourceId: 'chat-7',
      agentId: null,
      threadId: null,
      after: null,
      limit: 10,
      order: 'desc',
    } as const
    const plans = await plansOf(database.store, PROJECT, (tx) => findSourcePlaces(tx, listing))
    const scans = plans.flatMap(nodesOf).filter((node) => node['Relation Name'] === 'messages')
    expect(scans.map((node) => node['Index Name'])).toEqual(['messages_source'])
  })
})
