import { createClient as createHttpClient, type RemoteClient } from '@heddle/client/http'
import type { Client, NewMessage } from '@heddle/client/interface'
import type { AppendWarning, ContextResult } from '@heddle/contracts'
import { createClient } from '@heddle/engine'
import { systemClock } from '@heddle/runtime'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Served, serve } from '../doors/http-support.js'
import { openPipeline, type Pipeline } from '../support.js'

const DAY_MS = 86_400_000
const DAY_S = 86_400
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

let names = 0
/** A new agent and thread, so that tests share only a pipeline. */
const freshNames = () => ({ agent: `agent ${++names}`, thread: `thread ${names}` })

/** Sets its time: a message without one has the time of the message before it in its append. */
const say = (content: string, fields: Partial<NewMessage> = {}): NewMessage => ({
  role: 'user',
  content,
  sentAt: daysAgo(0),
  ...fields,
})
const lastWeek = (count: number) =>
  Array.from({ length: count }, (_, index) => say(`last week ${index}`, { sentAt: daysAgo(7 - index / 10_000) }))

let pipeline: Pipeline
let client: Client
let http: Served
/** Milliseconds by which the clock of the workers is ahead. */
let aheadMs = 0
const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs }

beforeAll(async () => {
  pipeline = await openPipeline()
  await pipeline.start(undefined, { clock })
  client = pipeline.client
  http = await serve(pipeline)
})
afterAll(async () => {
  await http?.gateway.close()
  await pipeline?.close()
})

/** Eligible and hidden messages add up to all messages. */
function checkCounts({ receipt }: ContextResult): ContextResult['receipt'] {
  const { 'outside-window': outside = 0, 'before-clear': cleared = 0 } = receipt.ineligible
  expect(receipt.eligible + outside + cleared).toBe(receipt.imported)
  return receipt
}

describe('a receipt', () => {
  test('of a thread with only old messages says so first, and a request with its own window shows them', async () => {
    const own = freshNames()
    await client.messages.append({
      ...own,
      messages: [...lastWeek(3), say('oops', { role: 'error', sentAt: daysAgo(6) })],
    })
    const built = await client.contexts.build({ thread: own.thread, message: 'go on' })
    const receipt = checkCounts(built)
    expect(receipt).toMatchObject({ eligible: 0, imported: 3, ineligible: { 'outside-window': 3, error: 1 } })
    expect(receipt.notes[0]).toMatch(
      /^none of the 3 messages of the thread is shown: 3 are outside of the rolling window/,
    )
    expect(receipt.notes[0]).toContain(`heddle settings set rollingWindow none --agent '${own.agent}'`)
    await expect(client.contexts.build({ thread: own.thread })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('Conversation has no messages: none of the 3 messages of the thread is shown'),
      hint: expect.stringContaining('heddle settings set rollingWindow none'),
    })
    const wide = await client.contexts.build({ thread: own.thread, rollingWindow: null })
    expect(checkCounts(wide)).toMatchObject({ eligible: 3, ineligible: { error: 1 }, notes: [] })
    expect(wide.messages).toHaveLength(3)
    // A context that is read again has its first notes, also when it is rebuilt.
    const again = await Promise.all([client.contexts.get(built.id), client.contexts.get(built.id, { rebuild: true })])
    expect(again.map((each) => each.receipt)).toEqual([receipt, receipt])
    const { settings } = await client.contexts.diff(built.id, wide.id)
    expect(settings).toContainEqual({ name: 'outsideWindow', before: 3, after: 0 })
  })

  test('counts old messages, cleared messages, and those that are both, while a cached thread grows', async () => {
    const own = freshNames()
    const build = async () => checkCounts(await client.contexts.build({ thread: own.thread, message: 'go on' }))
    await client.messages.append({ ...own, messages: [...lastWeek(2), say('today')] })
    expect((await build()).ineligible).toEqual({ 'outside-window': 2 })
    await client.agents.clear(own.agent, { clearedAt: daysAgo(3) })
    // The clear hides all stored messages; a later one is hidden if its own time is before the clear.
    expect((await build()).ineligible).toEqual({ 'before-clear': 3 })
    await client.messages.append({ ...own, messages: [say('after', { sentAt: daysAgo(2) }), say('now')] })
    expect((await build()).ineligible).toEqual({ 'before-clear': 3, 'outside-window': 1 })
    await client.messages.append({ ...own, messages: [say('late', { sentAt: daysAgo(2) })] })
    await client.messages.append({ ...own, messages: [say('later', { sentAt: daysAgo(4) })] })
    const receipt = await build()
    expect(receipt).toMatchObject({ eligible: 1, imported: 7, ineligible: { 'before-clear': 4, 'outside-window': 2 } })
    expect(receipt.notes).toHaveLength(1)
    expect(receipt.notes[0]).toMatch(
      /^6 of the 7 messages of the thread are not shown: 2 are outside .*, 4 are from before the last clear/,
    )
  })

  test('of a request for a part of the window, or for several threads, accounts for each thread', async () => {
    const own = freshNames()
    const other = `${own.thread} b`
    await client.messages.append({
      ...own,
      messages: [...lastWeek(2), say('hours ago', { sentAt: daysAgo(0.5) }), say('now')],
    })
    await client.messages.append({ ...own, thread: other, messages: lastWeek(3) })
    const recent = await client.contexts.build({ thread: own.thread, scope: { since: '1h' } })
    expect(checkCounts(recent)).toMatchObject({ eligible: 2, ineligible: { 'outside-window': 2 } })
    const both = await client.contexts.build({ thread: own.thread, scope: { threads: [own.thread, other] } })
    expect(checkCounts(both)).toMatchObject({ eligible: 2, imported: 7, ineligible: { 'outside-window': 5 } })
    expect(both.receipt.notes.slice(0, 2)).toEqual([
      expect.stringContaining(`thread "${other}": none of the 3 messages`),
      expect.stringContaining(`thread "${own.thread}": 2 of the 4 messages`),
    ])
    const wide = await client.contexts.build({
      thread: own.thread,
      scope: { threads: [own.thread, other] },
      rollingWindow: null,
    })
    expect(checkCounts(wide)).toMatchObject({ eligible: 7, ineligible: {} })
  })

  test('warns for a prebuilt context, and for one that is built again after messages left the window', async () => {
    const own = freshNames()
    const ahead = createClient({ store: pipeline.store, queues: pipeline.queues, project: 'tests', clock })
    const secondsAgo = (seconds: number) => daysAgo(seconds / DAY_S)
    await ahead.agents.put(own.agent, { settings: { rollingWindow: 600 } })
    await ahead.messages.append({ ...own, messages: [...lastWeek(2), say('before', { sentAt: secondsAgo(500) })] })
    await ahead.threads.waitUntilSettled(own.thread)
    const request = { thread: own.thread, prebuild: true }
    const build = async () => await ahead.contexts.build(request, { deadlineMs: 200_000 })
    await build()
    await ahead.messages.append({ ...own, messages: [say('now')] })
    await ahead.threads.waitUntilSettled(own.thread)
    const prepared = await build()
    expect(checkCounts(prepared)).toMatchObject({ eligible: 2, ineligible: { 'outside-window': 2 } })
    expect((await build()).id).toBe(prepared.id)
    aheadMs = 120_000
    try {
      expect(checkCounts(await build())).toMatchObject({ eligible: 1, ineligible: { 'outside-window': 3 } })
    } finally {
      aheadMs = 0
    }
  })

  test('of a run counts messages and iterations from before a clear', async () => {
    const own = freshNames()
    const iteration = { prompt: 'p', output: 'o' }
    await client.messages.append({ ...own, messages: [say('before')] })
    await client.iterations.append({ ...own, iterations: [iteration, iteration] })
    await client.agents.clear(own.agent)
    const bare = client.contexts.build({ thread: own.thread, strategy: 'iterations' })
    await expect(bare).rejects.toMatchObject({
      message: `the loop has neither a goal nor iterations; not shown: 2 iterations from before the last clear of agent "${own.agent}"`,
    })
    await client.iterations.append({ ...own, iterations: [iteration] })
    const built = await client.contexts.build({ thread: own.thread, strategy: 'iterations' })
    expect(checkCounts(built)).toMatchObject({ iterations: 1, ineligible: { 'before-clear': 1 } })
    expect(built.receipt.notes[0]).toBe(`not shown: 2 iterations from before the last clear of agent "${own.agent}"`)
  })
})

test('a thread says how many of its messages the window hides, and what to do', async () => {
  const own = freshNames()
  await client.messages.append({ ...own, messages: [...lastWeek(2), say('now')] })
  expect(await client.threads.get(own.thread)).toMatchObject({
    eligible: 1,
    imported: 3,
    hidden: { outsideWindow: 2, beforeClear: 0 },
    warnings: [
      expect.stringMatching(/^2 of the 3 messages .* outside of the rolling window of 86400 seconds; to show/),
    ],
  })
  await client.agents.put(own.agent, { settings: { rollingWindow: null } })
  expect(await client.threads.get(own.thread)).toMatchObject({ eligible: 3, warnings: [] })
  await client.agents.clear(own.agent)
  const cleared = await client.threads.get(own.thread)
  expect(cleared).toMatchObject({ eligible: 0, hidden: { outsideWindow: 0, beforeClear: 3 } })
  expect(cleared.warnings).toEqual([expect.stringContaining('heddle context history')])
})

/** The same interface over the queue and over HTTP, each in a project of its own. */
const transports: { transport: string; open(): Promise<RemoteClient> }[] = [
  { transport: 'the queue', open: async () => pipeline.clientOf('warned-queue') },
  {
    transport: 'HTTP',
    async open() {
      const { key } = await pipeline.clientOf('warned-http').keys.create({ name: 'sdk', role: 'admin' })
      return createHttpClient({ url: http.url, key })
    },
  },
]

describe.each(transports)('an append over $transport', ({ open }) => {
  let remote: RemoteClient
  beforeAll(async () => {
    remote = await open()
  })
  const outside = (count: number, agent: string) => ({
    reason: 'outside-window',
    count,
    detail: 'older than the rolling window of 86400 seconds: contexts do not show these messages',
    hint: expect.stringContaining(`heddle settings set rollingWindow none --agent '${agent}'`),
  })

  test.each(['stored', 'queued'] as const)(
    'that is %s returns a warning about messages that contexts do not show',
    async (ack) => {
      const own = freshNames()
      const messages = [
        ...lastWeek(3),
        say('oops', { role: 'error', sentAt: daysAgo(6) }),
        say('now', { sentAt: daysAgo(0) }),
      ]
      expect((await remote.messages.append({ ...own, ack, messages })).warnings).toEqual([outside(3, own.agent)])
      await remote.messages.append({ ...own, messages: [say('now')] })
      const cleared = await remote.agents.clear(own.agent, { clearedAt: daysAgo(3) })
      const late = [say('before it', { sentAt: daysAgo(3.1) }), say('after it', { sentAt: daysAgo(2) })]
      expect((await remote.messages.append({ ...own, ack, messages: late })).warnings).toEqual([
        outside(1, own.agent),
        expect.objectContaining({ reason: 'before-clear', count: 1, hint: expect.stringContaining('context history') }),
      ])
      expect(cleared.epoch).toBe(1)
    },
  )

  test('returns no warning if all messages are in the window of the agent, or of an agent that it creates', async () => {
    const own = freshNames()
    expect(
      await remote.messages.append({ ...own, messages: [say('now'), say('then', { sentAt: daysAgo(0.9) })] }),
    ).not.toHaveProperty('warnings')
    const made = freshNames()
    const append = { ...made, newAgentRollingWindow: null, messages: lastWeek(2) }
    expect(await remote.messages.append({ ...append, ack: 'queued' })).not.toHaveProperty('warnings')
    await expect.poll(async () => (await remote.agents.get(made.agent)).settings).toEqual({ rollingWindow: null })
    expect(await remote.messages.append({ ...append, messages: lastWeek(3) })).not.toHaveProperty('warnings')
    // An existing agent keeps its own window.
    await remote.messages.append({ ...append, newAgentRollingWindow: 60, messages: [say('now')] })
    expect((await remote.agents.get(made.agent)).settings).toEqual({ rollingWindow: null })
  })

  test('in several requests returns one warning, with the messages of all requests counted', async () => {
    const own = freshNames()
    const messages = lastWeek(1_200)
    const { warnings } = await remote.messages.append({ ...own, messages })
    expect(warnings).toEqual([outside(1_200, own.agent)])
  })

  test('names the thread when the window is set on the thread', async () => {
    const own = freshNames()
    await remote.threads.put(own.thread, { agent: own.agent, settings: { rollingWindow: DAY_S / 24 } })
    const { warnings } = await remote.messages.append({ ...own, messages: [say('then', { sentAt: daysAgo(0.5) })] })
    expect(warnings).toMatchObject([{ detail: expect.stringContaining('3600 seconds'), count: 1 }])
    expect(warnings?.[0]?.hint).toContain(`in the settings of the thread '${own.thread}'`)
  })
})

test('a producer reports each batch whose messages contexts do not show', async () => {
  const own = freshNames()
  const warned: (AppendWarning & { thread: string })[] = []
  const producer = client.messages.producer({ agent: own.agent, onWarning: (warning) => warned.push(warning) })
  await Promise.all(lastWeek(3).map((message) => producer.add(own.thread, message)))
  await expect.poll(() => warned.reduce((sum, { count }) => sum + count, 0)).toBe(3)
  expect(warned[0]).toMatchObject({ thread: own.thread, reason: 'outside-window' })
  await producer.close()
})
