import { randomUUID } from 'node:crypto'
import type { MessageInput, PartialSettings } from '@heddle/contracts'
import { agentIdOf, extractAll, FACT_RULES, threadIdOf } from '@heddle/core'
import { createExtractiveSummarizer, fixedSummarizer } from '@heddle/models'
import { prune } from '@heddle/prune'
import { done, LargeJobError, skipped } from '@heddle/queue'
import { type RememberDeps, remember } from '@heddle/remember'
import { runCooperatively } from '@heddle/runtime'
import {
  beginMessageErasure,
  continueErasure,
  extractBatch,
  findLaggingThreads,
  forkThread,
  listFacts,
  loadThread,
  retractFact,
  type Store,
} from '@heddle/store'
import { beforeAll, expect, test } from 'vitest'
import { erase, threadTarget } from './store/erasure/erasure-support.js'
import { append, appendOne, freshStore, leaveMarks, PROJECT, prepared, RECEIVED_AT_MS } from './store/support.js'
import { jobFor } from './summarizing.js'

let store: Store

beforeAll(async () => {
  const fresh = await freshStore()
  store = fresh.store
  return fresh.drop
})

const agentId = agentIdOf(PROJECT, 'weaver')
const rules: PartialSettings = { remember: 'rules', rollingWindow: null }
const wakeOf = (thread: string) => ({
  wake: 'remember' as const,
  projectId: PROJECT,
  threadId: threadIdOf(PROJECT, thread),
})

const pruneWith = (thread: string, settings = rules) => prune(jobFor(thread), { store, settings })

function rememberWith(thread: string, more: Partial<RememberDeps> = {}, signal = new AbortController().signal) {
  const summarizers = fixedSummarizer(createExtractiveSummarizer())
  const quiet = { log: { info: () => {}, warn: () => {} }, clock: { nowMs: () => 0 } }
  const deps = { store, settings: rules, summarizers, ...quiet }
  return remember({ ...jobFor(thread), signal }, { ...deps, ...more })
}

/** Stores messages and brings the cursor of the stage to where it begins. */
async function said(thread: string, texts: readonly (string | Partial<MessageInput>)[], minute = 0): Promise<string[]> {
  const messages = texts.map((text, index) =>
    prepared(typeof text === 'string' ? { content: text } : text, {
      orderedAtMs: RECEIVED_AT_MS + (minute * 60 + index) * 1_000,
    }),
  )
  await appendOne(store, append(messages, { thread }))
  await pruneWith(thread)
  return messages.map(({ input }) => input.id)
}

async function cursorOf(thread: string): Promise<number | null | undefined> {
  const threadId = threadIdOf(PROJECT, thread)
  return (await store.inProject(PROJECT, (tx) => loadThread(tx, { threadId })))?.rememberSeq
}

async function factsOf(thread: string) {
  const threadId = threadIdOf(PROJECT, thread)
  return await store.inProject(PROJECT, (tx) => listFacts(tx, { agentId, threadId, limit: 100 }))
}

const objectsOf = async (thread: string) => (await factsOf(thread)).map(({ object }) => object).sort()

/** What `heddle facts extract` does. */
async function onDemand(thread: string) {
  const threadId = threadIdOf(PROJECT, thread)
  const found = await store.inProject(PROJECT, (tx) => loadThread(tx, { threadId }))
  if (found === null) throw new Error('the thread is gone')
  return await extractBatch(store, {
    ...{ projectId: PROJECT, thread: found, afterSeq: 0, isStage: false },
    reader: {
      read: async (messages) => ({
        extractor: FACT_RULES,
        facts: await runCooperatively(extractAll(threadId, messages)),
      }),
    },
  })
}

test('facts of new messages are stored once: a job that is delivered again, or for a lost cursor, adds nothing', async () => {
  const [id] = await said('once', ['I live in Turin.', { role: 'assistant', content: 'I live in Oslo.' }])
  expect(await rememberWith('once')).toEqual(done([]))
  const facts = await factsOf('once')
  expect(facts).toMatchObject([
    { object: 'Turin', sources: [id], origin: 'extracted', extractor: FACT_RULES, validFromMs: RECEIVED_AT_MS },
  ])
  expect(await cursorOf('once')).toBe(2)
  expect(await rememberWith('once')).toEqual(skipped('the cursor is at the head'))
  await store.inProject(
    PROJECT,
    (tx) => tx`update heddle.stage_cursors set remember_seq = 0 where thread_id = ${wakeOf('once').threadId}`,
  )
  expect(await rememberWith('once')).toEqual(done([]))
  expect(await factsOf('once')).toEqual(facts)
})

test('prune wakes the stage while messages are left, and the reconciler finds the thread if the wake is lost', async () => {
  await appendOne(store, append([prepared({ content: 'I live in Turin.' })], { thread: 'woken' }))
  expect(await pruneWith('woken')).toEqual(done([wakeOf('woken')]))
  const lagging = async () => {
    const work = await findLaggingThreads(store, { limit: 1_000, nowMs: RECEIVED_AT_MS })
    return work.filter(({ threadId, stage }) => threadId === wakeOf('woken').threadId && stage === 'remember')
  }
  expect(await lagging()).toHaveLength(1)
  await rememberWith('woken')
  expect([await lagging(), await pruneWith('woken')]).toEqual([[], done([])])
})

test('without the setting there is no cursor and no wake, and with it messages are read from then on', async () => {
  await appendOne(store, append([prepared({ content: 'I live in Turin.' })], { thread: 'unasked' }))
  expect(await pruneWith('unasked', {})).toEqual(done([]))
  expect([await cursorOf('unasked'), await rememberWith('unasked')]).toEqual([
    null,
    skipped('no facts are read in this thread'),
  ])
  await said('unasked', ['I work at the mill.'])
  await rememberWith('unasked')
  expect(await objectsOf('unasked')).toEqual(['the mill'])
  await said('unasked', ['I work as a weaver.'])
  expect(await rememberWith('unasked', { settings: {} })).toMatchObject({ kind: 'skipped' })
  expect([await cursorOf('unasked'), await objectsOf('unasked')]).toEqual([null, ['the mill']])
})

test('messages that arrive out of order give the facts of those in order', async () => {
  await said('late', ['The build server latency is now 250 ms.'], 5)
  await rememberWith('late')
  await said('late', ['The build server latency is 800 ms.'], 1)
  await rememberWith('late')
  const held = (await factsOf('late')).map(({ object, validFromMs }) => [object, validFromMs - RECEIVED_AT_MS])
  expect(held.sort()).toEqual([
    ['250 ms', 300_000],
    ['800 ms', 60_000],
  ])
})

test('nothing is read from models and tools, from what was recalled, inserted or restored, and no secret is stored', async () => {
  const secret = `ghp_${'a1B2c3'.repeat(6)}`
  const [id] = await said('unsaid', [
    'I live in Turin.',
    { role: 'assistant', content: 'I live in Oslo.', toolCalls: [{ id: 'c', name: 'Read', arguments: {} }] },
    { role: 'tool_result', toolCallId: 'c', content: 'I live in Rome.' },
    { content: 'I live in Bonn.', keptAside: 'compact-summary' },
    '<memory ref="msg-1a2b3c4d" note="recalled data">\nI live in Lyon.\n</memory>',
    '<system-reminder>\nI live in Kyiv.\n</system-reminder>',
    `I use the token ${secret} for the build server.`,
  ])
  await leaveMarks(store, wakeOf('unsaid').threadId, { ids: [id ?? ''], orderedAtMs: RECEIVED_AT_MS + 900_000 })
  await pruneWith('unsaid')
  await rememberWith('unsaid')
  expect([await cursorOf('unsaid'), await objectsOf('unsaid')]).toEqual([8, ['Turin']])
  expect(JSON.stringify(await factsOf('unsaid'))).not.toContain(secret)
})

test('two workers on one thread, and a reading on demand at the same time, store each fact once', async () => {
  const texts = Array.from({ length: 40 }, (_, index) => `The server latency is ${index + 2} ms.`)
  await said('raced', texts)
  const [first, second, read] = await Promise.all([rememberWith('raced'), rememberWith('raced'), onDemand('raced')])
  expect([first.kind, second.kind].sort()).toEqual(['done', 'skipped'])
  expect(read).toMatchObject({ toSeq: 40, facts: 40 })
  const facts = await factsOf('raced')
  expect([facts.length, new Set(facts.map(({ object }) => object)).size, await cursorOf('raced')]).toEqual([40, 40, 40])
  expect(await onDemand('raced')).toMatchObject({ facts: 40, added: 0 })
})

test('a backlog beyond the limit of one job continues in the next job', async () => {
  for (let from = 0; from < 1_020; from += 510)
    await said(
      'long',
      Array.from({ length: 510 }, (_, index) => `number ${from + index}`),
      from,
    )
  expect(await rememberWith('long')).toEqual(done([wakeOf('long')]))
  expect(await cursorOf('long')).toBe(1_000)
  expect(await rememberWith('long')).toEqual(done([]))
  expect(await cursorOf('long')).toBe(1_020)
})

test('a job that is aborted, or whose transaction is lost, stores nothing, and a retry stores all', async () => {
  await said('lost', ['I live in Turin.'])
  const signal = AbortSignal.abort(new Error('the worker stops'))
  await expect(rememberWith('lost', {}, signal)).rejects.toThrow('the worker stops')
  const inProject: Store['inProject'] = (projectId, work) =>
    store.inProject(projectId, async (tx) => {
      const result = await work(tx)
      const [row] =
        await tx`select count(*)::integer as count from heddle.facts where thread_id = ${wakeOf('lost').threadId}`
      if (row?.['count'] > 0) throw new Error('the connection was lost')
      return result
    })
  await expect(rememberWith('lost', { store: { ...store, inProject } })).rejects.toThrow('the connection was lost')
  expect([await cursorOf('lost'), await objectsOf('lost')]).toEqual([0, []])
  await rememberWith('lost')
  expect([await cursorOf('lost'), await objectsOf('lost')]).toEqual([1, ['Turin']])
})

test('facts of a message that is erased between its reading and the commit are not stored', async () => {
  const [id] = await said('erased', ['I live in Turin.', 'I work at the mill.'])
  const { threadId } = wakeOf('erased')
  let transactions = 0
  const inProject: Store['inProject'] = async (projectId, work) => {
    if (++transactions === 3) await eraseMessage(threadId, id ?? '')
    return await store.inProject(projectId, work)
  }
  const outcome = await rememberWith('erased', { store: { ...store, inProject } })
  expect(outcome).toEqual(skipped('another worker moved the cursor, or messages were erased', [wakeOf('erased')]))
  expect([await cursorOf('erased'), await objectsOf('erased')]).toEqual([0, []])
  expect(await rememberWith('erased')).toEqual(done([]))
  expect(await objectsOf('erased')).toEqual(['the mill'])
})

async function eraseMessage(threadId: string, messageId: string): Promise<void> {
  const target = { projectId: PROJECT, kind: 'messages', targetId: randomUUID() } as const
  await store.inProject(PROJECT, (tx) =>
    beginMessageErasure(tx, { erasureId: target.targetId, threadId, range: { messageId } }),
  )
  await continueErasure(store, target)
}

test('a thread that is erased is skipped, and a new one of its name begins anew', async () => {
  await said('gone', ['I live in Turin.'])
  await rememberWith('gone')
  await erase(store, threadTarget(wakeOf('gone')))
  expect([await rememberWith('gone'), await objectsOf('gone')]).toEqual([skipped('the thread is gone'), []])
})

test('a fork reads its own messages, and those that it shares are read in their thread', async () => {
  await said('origin', ['I live in Turin.', 'I work at the mill.'])
  await store.inProject(PROJECT, (tx) =>
    forkThread(tx, { projectId: PROJECT, origin: 'origin', name: 'branch', atSeq: null }),
  )
  expect(await cursorOf('branch')).toBeNull()
  await said('branch', ['I work as a weaver.'])
  expect(await cursorOf('branch')).toBe(2)
  for (const thread of ['branch', 'origin']) await rememberWith(thread)
  expect([await objectsOf('branch'), await objectsOf('origin')]).toEqual([['weaver'], ['Turin', 'the mill']])
})

test('a text that no database can hold stops nothing', async () => {
  const endless = Array.from({ length: 300 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('')
  const odd = ['I live in Tu\0rin \ud83e now', `I prefer a${'🧵'.repeat(200)}`, `The ${endless} tension is 5 ms.`]
  await said('odd', [...odd, 'I work at the mill.'])
  expect(await rememberWith('odd')).toEqual(done([]))
  expect(await objectsOf('odd')).toContain('the mill')
})

test('a message above the size limit of this worker is left to the worker of large jobs, and nothing changes', async () => {
  await said('large', ['I live in Turin.', `I work at the mill. ${'words of a text '.repeat(5_000)}`])
  const sizeMax = { messages: 150, tokens: 12_000 }
  await expect(rememberWith('large', { sizeMax })).rejects.toThrow(LargeJobError)
  expect([await cursorOf('large'), await objectsOf('large')]).toEqual([0, []])
  expect(await rememberWith('large')).toEqual(done([]))
  expect(await objectsOf('large')).toContain('Turin')
})

test('a fact that a person retracted stays retracted', async () => {
  await said('retracted', ['I live in Turin.'])
  await rememberWith('retracted')
  const [fact] = await factsOf('retracted')
  if (fact === undefined) throw new Error('no fact was read')
  await store.inProject(PROJECT, (tx) => retractFact(tx, { agentId, id: fact.id }))
  await onDemand('retracted')
  expect(await factsOf('retracted')).toMatchObject([{ id: fact.id, retractedAtMs: expect.any(Number) }])
})
