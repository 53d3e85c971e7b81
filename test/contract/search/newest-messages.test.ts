import { agentIdOf, projectIdOf, threadIdOf } from '@heddle/core'
import { beginErasure, findUnindexedThreads, forkThread } from '@heddle/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodesOf, plansOf } from '../store/plans-of.js'
import { freshStore, newId, prepared, RECEIVED_AT_MS, type TestStore } from '../store/support.js'
import { clientOn, index, PROJECT_NAME, said, store } from './support.js'

const PROJECT = projectIdOf(PROJECT_NAME)

let database: TestStore
beforeAll(async () => {
  database = await freshStore()
})
afterAll(() => database.drop())

const search = (query: string, conditions: { agent?: string; thread?: string; limit?: number } = {}) =>
  clientOn(database).search({ query, by: 'words', ...conditions })
const texts = async (query: string, conditions = {}) => (await search(query, conditions)).items.map(({ text }) => text)

const at = (second: number) => ({ orderedAtMs: RECEIVED_AT_MS + second * 1_000 })
const numbered = (word: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, number) =>
    prepared({ content: `${word} number ${from + number} of the list` }, at(from + number)),
  )

describe('messages that the embed stage has not reached', () => {
  it('are ranked with the scores that they have when they are indexed', async () => {
    const agent = `agent ${newId()}`
    const [indexed, begun, unread] = ['indexed', 'begun', 'unread'].map((name) => ({
      agent,
      thread: `${name} ${newId()}`,
    }))
    if (!indexed || !begun || !unread) throw new Error('three threads')
    const call = { id: 'call', name: 'Bash', arguments: { command: 'npm run heron' } }
    await said(database, indexed, [prepared({ content: 'The heron stands in the lake.' }, at(1))])
    await said(database, begun, [prepared({ content: 'Nothing but a pond.' }, at(2))])
    await store(database, begun, [
      prepared({ role: 'assistant', content: 'A heron again, near the pond.', toolCalls: [call] }, at(3)),
      prepared({ role: 'tool_result', toolCallId: 'call', toolName: 'Bash', content: 'no birds' }, at(4)),
    ])
    await store(database, unread, [prepared({ content: 'Where did the heron go yesterday?' }, at(5))])
    const results = async () => {
      const { items } = await search('heron lake yesterday', { agent })
      return items.map(({ thread, text, kind, score }) => ({ thread, text, kind, score }))
    }

    const before = await results()
    for (const place of [begun, unread]) await index(database, place)

    expect(before.map(({ thread }) => thread)).toEqual(
      expect.arrayContaining([indexed.thread, begun.thread, unread.thread]),
    )
    expect(before).toContainEqual(expect.objectContaining({ text: 'no birds', kind: 'bash' }))
    expect(before).toEqual(await results())
  })

  it('are found once each while the stage indexes them', async () => {
    const place = { agent: `agent ${newId()}`, thread: `thread ${newId()}` }
    await store(database, place, numbered('egret', 60))
    const done = index(database, place)
    let isDone = false
    void done.finally(() => {
      isDone = true
    })
    let searches = 0
    while (!isDone || searches === 0) {
      const { items, isComplete } = await search('egret', { agent: place.agent, limit: 100 })
      expect(new Set(items.map(({ messageId }) => messageId)).size).toBe(60)
      expect(items).toHaveLength(60)
      expect(isComplete).toBe(true)
      searches++
    }
    await done
  })

  it('are the newest hundred, and the search says that it is incomplete', async () => {
    const place = { agent: `agent ${newId()}`, thread: `thread ${newId()}` }
    await store(database, place, numbered('plover', 120))
    expect(await texts('"number 119" plover', { ...place, limit: 1 })).toEqual(['plover number 119 of the list'])
    const { items, isComplete } = await search('plover', { ...place, limit: 200 })
    // With the two before them, as their neighbours.
    expect(items).toHaveLength(102)
    expect(isComplete).toBe(false)

    await index(database, place)
    expect((await search('plover', { ...place, limit: 200 })).items).toHaveLength(120)
  })

  it('are left out from a very long one on, so that a search stays fast', async () => {
    const place = { agent: `agent ${newId()}`, thread: `thread ${newId()}` }
    const long = {
      ...prepared({ content: 'a dunlin walks along the shore. '.repeat(4_000) }, at(2)),
      tokensEstimate: 30_000,
    }
    await store(database, place, [
      prepared({ content: 'a dunlin in the morning' }, at(1)),
      long,
      prepared({ content: 'a dunlin in the evening' }, at(3)),
    ])
    const { items, isComplete } = await search('evening', place)
    expect(items[0]?.text).toBe('a dunlin in the evening')
    expect(isComplete).toBe(false)
    for (const word of ['morning', 'shore']) expect(await texts(word, place)).toEqual([])

    await index(database, place)
    for (const word of ['morning', 'shore']) expect(await texts(word, place)).not.toEqual([])
  })

  it('that a fork shares are found in it, up to the message where it begins', async () => {
    const agent = `agent ${newId()}`
    const [origin, fork] = [`origin ${newId()}`, `fork ${newId()}`]
    await store(database, { agent, thread: origin }, numbered('avocet', 2))
    await database.store.inProject(PROJECT, (tx) =>
      forkThread(tx, { projectId: PROJECT, origin, name: fork, atSeq: null }),
    )
    await store(database, { agent, thread: origin }, numbered('avocet', 1, 2))
    await store(database, { agent, thread: fork }, [prepared({ content: 'an avocet of the fork' }, at(9))])
    expect((await texts('avocet', { thread: fork })).sort()).toEqual([
      'an avocet of the fork',
      'avocet number 0 of the list',
      'avocet number 1 of the list',
    ])
    expect((await search('avocet', { thread: fork })).items.every(({ thread }) => thread === fork)).toBe(true)
  })

  it('of an erased thread are not found', async () => {
    const place = { agent: `agent ${newId()}`, thread: `thread ${newId()}` }
    await store(database, place, numbered('curlew', 1))
    expect(await texts('curlew', { agent: place.agent })).toHaveLength(1)
    await database.store.inProject(PROJECT, (tx) =>
      beginErasure(tx, { kind: 'thread', targetId: threadIdOf(PROJECT, place.thread) }),
    )
    expect(await texts('curlew', { agent: place.agent })).toEqual([])
  })

  it('are found through the index of such threads, also beside many that are indexed', async () => {
    const agent = `agent ${newId()}`
    for (let thread = 0; thread < 30; thread++)
      await said(database, { agent, thread: `${agent} ${thread}` }, numbered('gull', 1))
    await store(database, { agent, thread: `${agent} last` }, numbered('gull', 1, 60))
    const agentId = agentIdOf(PROJECT, agent)
    const plans = await plansOf(database.store, PROJECT, async (tx) => {
      expect(await findUnindexedThreads(tx, { agentId, threadIds: null })).toHaveLength(1)
    })
    const scanned = plans
      .flatMap(nodesOf)
      .flatMap((node) => (node['Index Name'] === undefined ? [] : [node['Index Name']]))
    expect(scanned).toContain('stage_cursors_unindexed')
  })
})
