import type { ContextResult, PartialSettings } from '@heddle/contracts'
import { createClient } from '@heddle/engine'
import { loadContext, type Store } from '@heddle/store'
import { expect, test } from 'vitest'
import { asking } from '../asking.js'
import { workerOn } from './assembling.js'
import { erase, freshThread, type TestThread, threadTarget } from './erasure/erasure-support.js'
import { append, appendOne, newId, PROJECT, prepared, storeOfTests } from './support.js'

const database = storeOfTests()
const client = () => createClient({ store: database.store, queues: null, project: 'store tests' })
const settings: PartialSettings = { rollingWindow: null }

/** A store that counts the transactions in which a context's input is read, and those in which one is, or was to be, stored. */
function counting(store: Store) {
  const counts = { reads: 0, stores: 0 }
  const counted: Store = {
    ...store,
    inProject: (projectId, work, options) => {
      if (options?.snapshot === true) counts.reads++
      if (options?.arePlansKept === true) counts.stores++
      return store.inProject(projectId, work, options)
    },
  }
  return { store: counted, counts }
}

/** A worker that has built a context of the thread so often that it builds the next one before it reads the thread. */
async function workerOf({ thread }: TestThread) {
  const { store, counts } = counting(database.store)
  const build = asking(store, settings)
  for (let round = 0; round < 3; round++) await build({ thread })
  const before = counts.reads
  const { context } = await build({ thread })
  expect(counts.reads).toBe(before)
  return { build, readsSince: () => counts.reads - before, context }
}

/** The parts of a context that its requester shows to a model. The ids of contexts, and what a context shares with the last one, differ. */
function seen({ messages, receipt: { sharedPrefixTokens: _, ...receipt }, tokensUsed }: ContextResult) {
  return { messages, receipt, tokensUsed }
}

const changes: Readonly<Record<string, (thread: TestThread) => Promise<unknown>>> = {
  'a message': ({ agent, thread }) => appendOne(database.store, append([prepared()], { agent, thread })),
  'the agent': ({ agent }) => client().agents.put(agent, { systemPrompt: 'Weave.' }),
  'the settings': ({ agent }) => client().agents.put(agent, { settings: { budget: 3_000 } }),
  'a clear': async ({ agent, thread }) => {
    await client().agents.clear(agent)
    await appendOne(database.store, append([prepared({}, { orderedAtMs: Date.now() + 1_000 })], { agent, thread }))
  },
  'the thread': ({ agent, thread }) => client().threads.put(thread, { agent, status: 'weaving' }),
  'another thread': ({ agent, thread }) => client().threads.put(`${thread} too`, { agent, status: 'dyeing' }),
  'a process': ({ thread }) => client().processes.put(thread, 'loom', { status: 'half way' }),
  'an item': ({ agent }) =>
    client().items.put(agent, { type: 'reference', name: 'weft', text: 'Beat.', include: 'agent' }),
  'a block': ({ agent: owner }) =>
    client().blocks.put({ scope: 'agent', owner, label: 'plan' }, { value: 'a long cloth' }),
}

test.each(Object.entries(changes))(
  '%s is seen by a worker that presumes that nothing has changed',
  async (_, change) => {
    const thread = await freshThread(database.store, 8)
    const worker = await workerOf(thread)
    await change(thread)
    const { context } = await worker.build({ thread: thread.thread })
    const { context: fresh } = await asking(database.store, settings)({ thread: thread.thread })
    expect(seen(context)).toEqual(seen(fresh))
    expect(seen(context)).not.toEqual(seen(worker.context))
    expect(worker.readsSince()).toBe(1)
  },
)

test('a message that comes between the build and its storing is seen', async () => {
  const { store } = database
  const thread = await freshThread(store, 8)
  let meanwhile = async () => {}
  const interrupted: Store = {
    ...store,
    async inProject(projectId, work, options) {
      await meanwhile()
      return await store.inProject(projectId, work, options)
    },
  }
  const build = asking(interrupted, settings)
  for (let round = 0; round < 3; round++) await build({ thread: thread.thread })
  meanwhile = async () => {
    meanwhile = async () => {}
    await appendOne(store, append([prepared({ content: 'in between' })], thread))
  }
  const { context } = await build({ thread: thread.thread })
  expect(JSON.stringify(context.messages)).toContain('in between')
})

test('a request that only the settings of before refuse is built', async () => {
  const thread = await freshThread(database.store, 8)
  await client().agents.put(thread.agent, { settings: { budget: 1_000, maxOutputTokens: 100 } })
  const { build } = await workerOf(thread)
  const message = 'Weave a long cloth. '.repeat(400)
  await expect(build({ thread: thread.thread, message })).rejects.toMatchObject({ code: 'BUDGET_TOO_SMALL' })
  await client().agents.put(thread.agent, { settings: { budget: 20_000 } })
  const { context } = await build({ thread: thread.thread, message })
  expect(JSON.stringify(context.messages)).toContain(message.trim())
})

test('a thread that grows before each context is read first', async () => {
  const thread = await freshThread(database.store, 8)
  const worker = await workerOf(thread)
  for (let round = 1; round < 4; round++) {
    await appendOne(database.store, append([prepared()], thread))
    await worker.build({ thread: thread.thread })
    expect(worker.readsSince()).toBe(round)
  }
})

test('a thread that changes after every second context is built in vain once', async () => {
  const thread = await freshThread(database.store, 8)
  const { store, counts } = counting(database.store)
  const build = asking(store, settings)
  for (let round = 0; round < 5; round++) {
    await appendOne(database.store, append([prepared()], thread))
    for (let each = 0; each < 2; each++) await build({ thread: thread.thread })
  }
  expect(counts.stores).toBe(11)
})

test('a thread whose input depends on more than its versions is built in vain once', async () => {
  const { agent, thread } = await freshThread(database.store, 8)
  const { store, counts } = counting(database.store)
  const build = asking(store, settings)
  for (let round = 0; round < 3; round++) await build({ thread })
  await client().items.put(agent, { type: 'reference', name: 'weft', text: 'Beat.', include: 'agent' })
  const before = counts.stores
  for (let round = 0; round < 4; round++) await build({ thread })
  expect(counts.stores - before).toBe(5)
})

test('an erased thread is not shown by a worker that has its context', async () => {
  const thread = await freshThread(database.store, 8)
  const worker = await workerOf(thread)
  await erase(database.store, threadTarget(thread))
  await expect(worker.build({ thread: thread.thread })).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('a job that is delivered twice is done once, and the next context is a patch of it', async () => {
  const { thread } = await freshThread(database.store, 8)
  const build = workerOn(database.store)
  const request = { thread }
  for (let round = 0; round < 3; round++) await build({ contextId: newId(), request })
  const contextId = newId()
  await build({ contextId, request })
  const load = () => database.store.inProject(PROJECT, (tx) => loadContext(tx, { id: contextId }))
  const stored = await load()
  expect(await build({ contextId, request })).toBeUndefined()
  expect(await load()).toEqual(stored)
  expect(await build({ contextId: newId(), request, baseId: contextId })).toMatchObject({ patch: { base: contextId } })
})
