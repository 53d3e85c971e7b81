import { threadIdOf } from '@heddle/core'
import type { Store } from '@heddle/store'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { append, appendOne, PROJECT, prepared } from '../support.js'
import { leftBehind, move, nextTimeMs, rowsOf, type TwoDatabases, twoDatabases, write } from './two-databases.js'

const WRITERS = 4
/** Of a call on a busy machine; `npm run bench -- --only projects.moved` measures it on an idle one. */
const DELAY_MS_MAX = 5_000

let databases: TwoDatabases
beforeEach(async () => {
  databases = await twoDatabases()
})
afterEach(() => databases.drop())

interface Load {
  /** Contents that were acknowledged, by thread. */
  readonly acknowledged: ReadonlyMap<string, readonly string[]>
  /** The longest call, in milliseconds. */
  readonly longestMs: number
  stop(): Promise<void>
}

/** Writers that append to a thread each and read it again, one call after another. A failure is one of the test. */
function startLoad(stores: readonly Store[]): Load {
  const acknowledged = new Map<string, string[]>()
  let [isStopped, longestMs] = [false, 0]
  const timed = async <T>(work: Promise<T>): Promise<T> => {
    const startedMs = performance.now()
    const result = await work
    longestMs = Math.max(longestMs, performance.now() - startedMs)
    return result
  }
  const writer = async (index: number) => {
    const store = stores[index % stores.length] as Store
    const thread = `thread ${index}`
    const contents: string[] = []
    acknowledged.set(thread, contents)
    for (let count = 0; !isStopped; count++) {
      const content = `${index}: ${count}`
      await timed(appendOne(store, append([prepared({ content }, { orderedAtMs: nextTimeMs() })], { thread })))
      contents.push(content)
      if (count % 5 > 0) continue
      const found = await timed(read(store, thread, { snapshot: count % 2 === 0 }))
      expect(found).toEqual(contents)
    }
  }
  const writing = Promise.all(Array.from({ length: WRITERS }, (_, index) => writer(index)))
  return {
    acknowledged,
    get longestMs() {
      return longestMs
    },
    async stop() {
      isStopped = true
      await writing
    },
  }
}

async function read(store: Store, thread: string, options: { snapshot: boolean }): Promise<string[]> {
  const threadId = threadIdOf(PROJECT, thread)
  const rows = await store.inProject(
    PROJECT,
    (tx) => tx<{ content: string }[]>`select content from heddle.messages where thread_id = ${threadId} order by seq`,
    options,
  )
  return rows.map(({ content }) => content)
}

test('a project that is written and read while it moves loses nothing, and no call fails or waits for a second', async () => {
  const stores = [databases.open(), databases.open()]
  await write(
    stores[0] as Store,
    Array.from({ length: 500 }, (_, index) => `message ${index}`),
  )
  const load = startLoad(stores)
  const there = await move(databases)
  const back = await move(databases, { to: 'default' })
  await load.stop()
  expect(there.figures.changes).toBeGreaterThan(0)
  expect(load.longestMs).toBeLessThan(DELAY_MS_MAX)
  expect(back.state).toBe('done')
  for (const [thread, contents] of load.acknowledged) {
    expect(contents.length).toBeGreaterThan(10)
    expect(await read(databases.openDefault(), thread, { snapshot: true })).toEqual(contents)
  }
  expect(await rowsOf(databases.sql.b)).toBe(0)
  expect([...(await leftBehind(databases.sql.default)), ...(await leftBehind(databases.sql.b))]).toEqual([])
}, 60_000)

test('a long transaction delays the move and no other transaction', async () => {
  const store = databases.open()
  await write(store, ['one'])
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const long = store.inProject(PROJECT, async (tx) => {
    await tx`select 1`
    await ended
  })
  const load = startLoad([databases.open()])
  const written = () => [...load.acknowledged.values()].flat().length
  try {
    const moving = move(databases)
    const stateNow = () => databases.sql.default`select state from heddle_placement.moves`
    await expect.poll(stateNow, { timeout: 30_000 }).toEqual([{ state: 'switching' }])
    const before = written()
    await expect.poll(written, { timeout: 30_000 }).toBeGreaterThan(before + 50)
    expect(await stateNow()).toEqual([{ state: 'switching' }])
    end()
    await long
    expect(await moving).toMatchObject({ state: 'done' })
  } finally {
    end()
    await load.stop()
  }
  expect(load.longestMs).toBeLessThan(DELAY_MS_MAX)
}, 90_000)
