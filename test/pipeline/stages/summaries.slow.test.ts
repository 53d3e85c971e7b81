import { agentIdOf } from '@heddle/core'
import { createSummarizers } from '@heddle/models'
import { createLogger, systemClock } from '@heddle/runtime'
import { clearAgent } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  type ProtocolReply,
  type ProtocolServer,
  plainSummary,
  startProtocolServer,
} from '../../support/src/servers/protocol-server.js'
import { allStages, openPipeline, type Pipeline } from '../support.js'
import { AGENT, BUDGET, openTenant, session, THREAD } from '../tenant.js'

let pipeline: Pipeline
let server: ProtocolServer

beforeAll(async () => {
  server = await startProtocolServer()
  pipeline = await openPipeline()
  const summarizers = createSummarizers({
    env: { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: server.openAiUrl },
    clock: systemClock,
    log: createLogger({ level: 'silent', name: 'test' }),
    // Only the attempts of one job are tested here.
    limits: { attemptsMax: 1, callMsMax: 500 },
  })
  await pipeline.start(allStages, { summarizers, reconcile: { everyMs: 100, patienceMs: 0 } })
})
afterAll(async () => {
  await pipeline?.close()
  await server?.close()
})
beforeEach(() => server.respond(plainSummary))

/** A project with its own model for summaries, so that faults of other tests do not affect it. */
async function tenantOf(model: string) {
  const tenant = await openTenant(pipeline, model)
  const settings = {
    summarizationProvider: 'openai' as const,
    summarizationModel: model,
    budget: BUDGET,
    rollingWindow: null,
  }
  await tenant.client.agents.put(AGENT, { settings })
  return tenant
}

const faults: Record<string, ProtocolReply> = {
  busy: { kind: 'status', status: 429, retryAfter: '1' },
  broken: { kind: 'status', status: 500 },
  silent: { kind: 'silent' },
  cut: { kind: 'cut' },
  empty: { kind: 'text', text: '' },
  refusal: { kind: 'text', text: 'I cannot help with that.' },
  overflow: { kind: 'overflow', windowTokens: 8_192, requestedTokens: 90_000 },
  malformed: { kind: 'malformed' },
}

test('after any failure messages and the previous summary stay, contexts are built in time, and the next attempt settles', async () => {
  const failing = new Set<string>()
  server.respond((asked) => {
    const fault = faults[asked.model]
    return fault !== undefined && failing.has(asked.model) ? fault : plainSummary(asked)
  })
  await Promise.all(
    Object.keys(faults).map(async (model) => {
      const messages = session(model, 45)
      const half = messages.slice(0, 60)
      const tenant = await tenantOf(model)
      const overview = () => tenant.client.threads.get(THREAD)
      await tenant.send(half)
      await tenant.whenSettled(half.length)
      const former = (await overview()).states.findLast(({ summary }) => summary !== null)
      expect(former).toMatchObject({ summarizer: `openai ${model}`, summary: expect.stringContaining('They spoke of') })

      failing.add(model)
      await tenant.send(messages.slice(60))
      const failed = await waitFor(
        async () => {
          const seen = await overview()
          return (
            seen.messages === messages.length && seen.summaryCosts.failedCalls + seen.summaryCosts.calls > 1 && seen
          )
        },
        { what: `a call that fails: ${model}` },
      )
      expect(failed.states.find(({ id }) => id === former?.id)?.summary).toBe(former?.summary)
      const context = await tenant.client.contexts.build(
        { thread: THREAD, format: 'openai-chat' },
        { deadlineMs: 20_000 },
      )
      expect(context.tokensUsed).toBeLessThanOrEqual(context.budget)
      expect(context.receipt.eligible).toBe(messages.length)
      if (failed.states.at(-1)?.status === 'pending') {
        expect(context.receipt.notes.join()).toContain('extractive summary')
      }

      failing.delete(model)
      await tenant.whenSettled(messages.length)
      const mended = await overview()
      expect(mended).toMatchObject({ messages: messages.length, lastError: null })
      expect(mended.states.at(-1)).toMatchObject({ status: 'ready', summarizer: `openai ${model}` })
      expect(mended.summaryCosts.inputTokens).toBeGreaterThan(0)
    }),
  )
})

test('an existing summary is used for all contexts, and no other is requested before the thread has grown', async () => {
  const tenant = await tenantOf('cached')
  const asked = () => server.requests.filter(({ model }) => model === 'cached').length
  const states = async () => (await tenant.client.threads.get(THREAD)).states
  const messages = session('cached', 60)
  const before = messages.slice(0, 60)
  await tenant.send(before)
  await tenant.whenSettled(before.length)
  const calls = asked()
  const latest = (await states()).at(-1)
  expect(calls).toBeGreaterThan(0)
  for (let build = 0; build < 5; build++) {
    const context = await tenant.client.contexts.build({ thread: THREAD, message: `question ${build}` })
    expect(context.summaryUsed).toBe(true)
    expect(JSON.stringify(context.messages)).toContain(latest?.summary)
  }
  // One more message is far below a tenth of the budget.
  await tenant.send(messages.slice(60, 61))
  await tenant.whenSettled(61)
  await tenant.client.contexts.build({ thread: THREAD })
  expect((await states()).at(-1)?.id).toBe(latest?.id)
  expect(asked()).toBe(calls)

  await tenant.send(messages.slice(61))
  await tenant.whenSettled(messages.length)
  expect(asked()).toBeGreaterThan(calls)
  expect((await states()).at(-1)?.coveredCount).toBeGreaterThan(latest?.coveredCount ?? 0)
})

// In every request.
test('an empty window is refused and nothing is summarized, unless the request has a message', async () => {
  const tenant = await tenantOf('nobody')
  await tenant.client.threads.put(THREAD, { agent: AGENT })
  const refused = { code: 'VALIDATION_ERROR', message: expect.stringContaining('Conversation has no messages') }
  await expect(tenant.client.contexts.build({ thread: THREAD })).rejects.toMatchObject(refused)
  const asking = await tenant.client.contexts.build({ thread: THREAD, message: 'Is anybody there?' })
  expect(asking.messages.at(-1)).toMatchObject({ role: 'user', content: 'Is anybody there?' })

  const messages = session('nobody', 3)
  await tenant.send(messages)
  await tenant.whenSettled(messages.length)
  await tenant.client.agents.clear(AGENT)
  await expect(tenant.client.contexts.build({ thread: THREAD })).rejects.toMatchObject(refused)
  expect((await tenant.client.threads.get(THREAD)).states).toEqual([])
  expect(server.requests.filter(({ model }) => model === 'nobody')).toEqual([])
})

test('no secret is sent to a summarizer, not even half of one at the cut of a long message, and stored messages keep it', async () => {
  const tenant = await tenantOf('discreet')
  const key = 'sk-proj-Abcdefghijklmnopqrstuvwxyz0123456789'
  // A message of more than 8,000 characters is cut in its middle, at 4,000 characters.
  const head = `use ${key} and ${'the international organization '.repeat(130)}`.slice(0, 3_984)
  const long = `${head} ${key} ${'went on with the documentation '.repeat(400)}`
  const messages = session('discreet', 45)
  const leaky = messages.map((placed, index) =>
    index === 20 ? { ...placed, message: { ...placed.message, content: long } } : placed,
  )
  const from = server.requests.length
  await tenant.send(leaky)
  await tenant.whenSettled(leaky.length)
  const sent = server.requests.slice(from).map(({ user }) => user)
  expect(sent.join()).toContain('[redacted:api-key]')
  expect(sent.join()).not.toContain(key.slice(0, 12))
  expect(sent.join()).not.toContain(key.slice(-12))
  const { items } = await tenant.client.messages.list({ thread: THREAD, limit: 500 })
  expect(items.find(({ id }) => id === leaky[20]?.message.id)?.content).toBe(long)
})

test('no summary from before a clear survives it, with 1,000 appends and 20 clears while summaries are slow', async () => {
  const tenant = await tenantOf('slow')
  const agentId = agentIdOf(tenant.projectId, AGENT)
  // A summary names the oldest and the newest clear before its messages.
  server.respond(({ user, number }) => {
    const epochs = [...user.matchAll(/after-clear-(\d+)/g)].map((match) => Number(match[1]))
    return { kind: 'text', text: `From ${Math.min(...epochs)} to ${Math.max(...epochs)}.`, afterMs: (number * 7) % 60 }
  })
  const APPENDS = 1_000
  const CLEARS = 20
  let sent = 0
  let atMs = Date.parse('2026-02-12T14:30:00Z')
  const appendSome = async (epoch: number) => {
    const append = async () => {
      atMs += 1_000
      const orderedAt = new Date(atMs).toISOString()
      const tail = (++sent).toString(16).padStart(12, '0')
      const content = `after-clear-${epoch} ${'the parser was made to read one more form of line. '.repeat(8)}`
      const role = sent % 2 === 0 ? ('assistant' as const) : ('user' as const)
      const message = { id: `018f0000-0000-7000-8000-${tail}`, sentAt: orderedAt, role, content }
      await tenant.send([{ message, ordinal: sent, orderedAt }])
    }
    for (let left = APPENDS / (CLEARS + 1); left > 0; left -= 10) {
      await Promise.all(Array.from({ length: Math.min(10, Math.ceil(left)) }, append))
    }
  }
  const stored = (count: number) =>
    waitFor(async () => (await tenant.client.threads.list()).items[0]?.messages === count, {
      what: `${count} messages`,
      timeoutMs: 60_000,
      everyMs: 10,
    })
  const isAsked = (epoch: number) => server.requests.some(({ user }) => user.includes(`after-clear-${epoch} `))
  const summaries = async () => (await tenant.client.threads.get(THREAD)).states.flatMap(({ summary }) => summary ?? [])
  const written = () =>
    pipeline.store.inProject(
      tenant.projectId,
      async (tx) =>
        await tx<{ id: string; clearEpoch: number; summary: string }[]>`
          select id, clear_epoch, summary from heddle.context_states where summary is not null`,
    )
  const beforeClears = new Set<string>()
  for (let epoch = 0; epoch <= CLEARS; epoch++) {
    await appendSome(epoch)
    // A clear affects stored messages; queued ones come after it.
    await stored(sent)
    // Half of the clears meet a running summary, the others a finished one, while the next may be running.
    await waitFor(() => isAsked(epoch), { what: 'a summary under way', everyMs: 2 })
    if (epoch % 2 === 0) await waitFor(async () => (await summaries()).length > 0, { what: 'a summary', everyMs: 10 })
    expect(new Set([...(await summaries()), `From ${epoch} to ${epoch}.`]).size).toBe(1)
    if (epoch === CLEARS) break
    atMs += 1_000
    await pipeline.store.inProject(tenant.projectId, (tx) => clearAgent(tx, { agentId, clearedAtMs: atMs }))
    expect(await summaries()).toEqual([])
    for (const { id } of await written()) beforeClears.add(id)
  }
  await tenant.client.threads.waitUntilSettled(THREAD, { deadlineMs: 60_000 })
  const settled = await tenant.client.threads.get(THREAD)
  expect(settled.messages).toBeGreaterThanOrEqual(APPENDS)
  expect(settled.states.at(-1)?.summary).toBe(`From ${CLEARS} to ${CLEARS}.`)
  const kept = await written()
  expect(kept.length).toBeGreaterThanOrEqual(CLEARS / 2)
  for (const { clearEpoch, summary } of kept) expect(summary).toBe(`From ${clearEpoch} to ${clearEpoch}.`)
  // A summary that was running at a clear was never stored, not even out of sight of readers.
  expect(kept.filter(({ id, clearEpoch }) => clearEpoch < CLEARS && !beforeClears.has(id))).toEqual([])
  const context = await tenant.client.contexts.build({ thread: THREAD })
  expect(JSON.stringify(context.messages)).not.toMatch(new RegExp(`after-clear-(?!${CLEARS}\\b)`))
})

test('the first request after a change of settings compacts the thread under them, once', async () => {
  const tenant = await tenantOf('changed')
  await tenant.client.agents.put(AGENT, { settings: { budget: 200_000, rollingWindow: null } })
  const messages = session('changed', 45)
  await tenant.send(messages)
  await tenant.whenSettled(messages.length)
  const statesOf = async () => (await tenant.client.threads.get(THREAD)).states
  expect(await statesOf()).toEqual([])

  await tenant.client.agents.put(AGENT, { settings: { budget: BUDGET, rollingWindow: null } })
  const first = await tenant.client.contexts.build({ thread: THREAD })
  expect(first.receipt.stateId).toBeNull()
  const states = await waitFor(
    async () => {
      const found = await statesOf()
      return found.at(-1)?.status === 'ready' && found
    },
    { what: 'compactions under the new settings' },
  )
  const second = await tenant.client.contexts.build({ thread: THREAD })
  expect(second.receipt.stateId).not.toBeNull()
  expect(second.tokensUsed).toBeLessThanOrEqual(BUDGET)
  await tenant.client.threads.waitUntilSettled(THREAD, { deadlineMs: 10_000 })
  expect(await statesOf()).toHaveLength(states.length)
})
