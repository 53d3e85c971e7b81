import type { EpochState, EpochTexts } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import {
  beginErasure,
  beginMessageErasure,
  type ConversationPlace,
  continueErasure,
  loadProxiedConversation,
  type NewProxiedConversation,
  saveProxiedConversation,
  type Tx,
} from '@heddle/store'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodesOf, plansOf } from './plans-of.js'
import { append, appendAll, freshStore, newId, PROJECT, prepared, type TestStore } from './support.js'

let database: TestStore

beforeAll(async () => {
  database = await freshStore()
})
afterAll(() => database.drop())

const inProject = <Value>(work: (tx: Tx) => Promise<Value>) => database.store.inProject(PROJECT, work)
const save = (row: NewProxiedConversation) => inProject((tx) => saveProxiedConversation(tx, row))
const load = (place: ConversationPlace) => inProject((tx) => loadProxiedConversation(tx, place))
const byName = (thread: string) => load({ kind: 'thread', threadId: threadIdOf(PROJECT, thread) })

function stateAt(sentAtMs: number): EpochState {
  return {
    number: 1,
    model: 'm',
    head: 'h',
    hasRecallTool: false,
    sentHead: 'h',
    costs: { direct: 1, sent: 1 },
    requests: 1,
    requestsInEpoch: 1,
    sentTokens: 10,
    tokenRatio: 1,
    sentAtMs,
    marks: { received: { at: 1, chain: 'c1' }, sent: null, ends: [{ at: 1, chain: 'c1' }] },
  }
}

const TEXTS: EpochTexts = {
  cover: { to: 2, chain: 'c2', text: 'a quote', words: null, tokensBefore: 9, tokensAfter: 3 },
  expansions: [],
}

function rowOf(thread: string, change: Partial<NewProxiedConversation> = {}): NewProxiedConversation {
  return {
    threadId: threadIdOf(PROJECT, thread),
    thread,
    chain: null,
    session: null,
    begin: null,
    instructions: null,
    version: 0,
    state: stateAt(1_000),
    stubs: [],
    texts: null,
    ...change,
  }
}

describe('the state of a relayed conversation', () => {
  test('is written by whoever knows the version in the store', async () => {
    expect(await save(rowOf('versions'))).toEqual({ kind: 'saved', version: 1 })
    expect(await save(rowOf('versions', { version: 1, state: stateAt(2_000) }))).toEqual({ kind: 'saved', version: 2 })
    const replaced = { kind: 'replaced', version: 2, sentAtMs: 2_000 }
    expect(await save(rowOf('versions', { version: 1, state: stateAt(3_000) }))).toEqual(replaced)
    expect(await save(rowOf('versions'))).toEqual(replaced)
    expect(await byName('versions')).toMatchObject({ thread: 'versions', version: 2, state: stateAt(2_000) })
  })

  test('of many writers at once, one writes each version', async () => {
    await save(rowOf('at-once'))
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, index) => save(rowOf('at-once', { version: 1, state: stateAt(index) }))),
    )
    expect(outcomes.filter(({ kind }) => kind === 'saved')).toHaveLength(1)
    expect(outcomes.filter(({ kind }) => kind === 'replaced')).toHaveLength(7)
  })

  test('keeps the columns that a write leaves out', async () => {
    const stubs = [{ entry: 2, result: 0, callId: 'a', tokensBefore: 9, tokensAfter: 2, tokensKept: 1.5 }]
    await save(rowOf('columns', { stubs, texts: TEXTS }))
    await save(rowOf('columns', { version: 1, stubs: undefined, texts: undefined }))
    expect(await byName('columns')).toMatchObject({ stubs, texts: TEXTS, version: 2 })
    await save(rowOf('columns', { version: 2, stubs: [] }))
    expect(await byName('columns')).toMatchObject({ stubs: [], texts: null, version: 3 })
  })

  test('is found by the longest of some chains', async () => {
    await save(rowOf('short', { chain: 'chain-1' }))
    await save(rowOf('long', { chain: 'chain-2' }))
    expect(await load({ kind: 'chains', chains: ['chain-0', 'chain-1', 'chain-2', 'chain-3'] })).toMatchObject({
      thread: 'long',
    })
    expect(await load({ kind: 'chains', chains: ['chain-0', 'chain-3'] })).toBeNull()
  })

  test('is found in its session by its beginning, else by its thread, else by its instructions', async () => {
    const session = 'session-1'
    const main = { session, begin: 'new', instructions: 'of-main' }
    await save(rowOf('main', { ...main, state: stateAt(1_000) }))
    await save(rowOf('helper-1', { session, begin: 'task-1', instructions: 'of-helper', state: stateAt(2_000) }))
    await save(rowOf('helper-2', { session, begin: 'task-2', instructions: 'of-helper', state: stateAt(3_000) }))
    const of = (begin: string, instructions: string | null, thread = 'unknown') =>
      load({ kind: 'session', session, begin, instructions, threadId: threadIdOf(PROJECT, thread) })
    expect(await of('new', null)).toMatchObject({ thread: 'main' })
    expect(await of('first', null, 'main')).toMatchObject({ thread: 'main' })
    expect(await of('summary', 'of-main')).toMatchObject({ thread: 'main' })
    expect(await of('summary', 'of-helper')).toMatchObject({ thread: 'helper-2' })
    expect(await of('task-1', 'of-main')).toMatchObject({ thread: 'helper-1' })
    expect(await of('task-3', null)).toBeNull()
    expect(
      await load({ kind: 'session', session: 'other', begin: 'new', instructions: 'of-main', threadId: newId() }),
    ).toBeNull()
  })

  test('is of one project', async () => {
    await save(rowOf('isolated', { chain: 'chain-of-one' }))
    const other = newId()
    const found = await database.store.inProject(other, (tx) =>
      loadProxiedConversation(tx, { kind: 'chains', chains: ['chain-of-one'] }),
    )
    expect(found).toBeNull()
  })
})

describe('among 2,000 conversations of a project', () => {
  beforeAll(async () => {
    for (let batch = 0; batch < 20; batch++) {
      await inProject(async (tx) => {
        for (let index = batch * 100; index < (batch + 1) * 100; index++) {
          const named = {
            session: `session-${index % 500}`,
            begin: `begin-${index}`,
            instructions: `kind-${index % 2}`,
          }
          await saveProxiedConversation(
            tx,
            rowOf(`many-${index}`, index % 2 === 0 ? { chain: `many-chain-${index}` } : named),
          )
        }
      })
    }
  })

  const chains = Array.from({ length: 128 }, (_, index) => `many-chain-${index + 900}`)
  const ofSession: ConversationPlace = {
    kind: 'session',
    session: 'session-7',
    begin: 'begin-507',
    instructions: 'kind-1',
    threadId: newId(),
  }

  test.each([
    ['a chain', { kind: 'chains', chains }, 'proxied_conversations_chain', 64],
    ['a session', ofSession, 'proxied_conversations_session', 4],
    ['a thread', { kind: 'thread', threadId: threadIdOf(PROJECT, 'many-8') }, 'proxied_conversations_pkey', 1],
  ] as const)('%s is found by an index, whatever the planner knows', async (_, place, index, rows) => {
    const plans = await plansOf(database.store, PROJECT, async (tx) => {
      await loadProxiedConversation(tx, place)
    })
    const nodes = plans.flatMap(nodesOf)
    expect(nodes.flatMap((node) => node['Index Name'] ?? [])).toContain(index)
    expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([])
    const read = nodes.filter((node) => node['Relation Name'] === 'proxied_conversations')
    expect(Math.max(...read.map((node) => node['Actual Rows'] ?? 0))).toBeLessThanOrEqual(rows)
    expect(Math.max(...read.map((node) => node['Rows Removed by Filter'] ?? 0))).toBe(0)
  })
})

describe('an erasure', () => {
  const thread = (name: string) => ({ kind: 'thread' as const, targetId: threadIdOf(PROJECT, name) })
  const target = (name: string) => ({ ...thread(name), projectId: PROJECT })

  test('of a thread removes the state and refuses later ones', async () => {
    await appendAll(database.store, [append([prepared()], { thread: 'erased' })])
    await save(rowOf('erased', { texts: TEXTS }))
    await inProject((tx) => beginErasure(tx, thread('erased')))
    await continueErasure(database.store, target('erased'))
    expect(await byName('erased')).toBeNull()
    expect(await save(rowOf('erased', { version: 1 }))).toEqual({ kind: 'gone' })
    expect(await save(rowOf('erased'))).toEqual({ kind: 'gone' })
  })

  test('of a thread whose name is used again lets no texts of before into the new one', async () => {
    await appendAll(database.store, [append([prepared()], { thread: 'reused' })])
    await inProject((tx) => beginErasure(tx, thread('reused'), { reuse: true }))
    await continueErasure(database.store, target('reused'))
    expect(await save(rowOf('reused', { texts: TEXTS }))).toEqual({ kind: 'gone' })
    expect(await save(rowOf('reused'))).toEqual({ kind: 'saved', version: 1 })
  })

  test('of a message removes the state, and texts of before do not come back', async () => {
    const message = prepared()
    await appendAll(database.store, [append([message, prepared()], { thread: 'partly' })])
    await save(rowOf('partly'))
    await inProject((tx) =>
      beginMessageErasure(tx, {
        erasureId: newId(),
        threadId: threadIdOf(PROJECT, 'partly'),
        range: { messageId: message.input.id },
      }),
    )
    expect(await byName('partly')).toBeNull()
    expect(await save(rowOf('partly', { version: 1, texts: TEXTS }))).toEqual({ kind: 'gone' })
    expect(await save(rowOf('partly', { texts: TEXTS }))).toEqual({ kind: 'gone' })
    expect(await save(rowOf('partly'))).toEqual({ kind: 'saved', version: 1 })
  })
})
