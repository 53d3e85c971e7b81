import type { PartialSettings } from '@heddle/contracts'
import { agentIdOf, threadIdOf } from '@heddle/core'
import { createSummarizers } from '@heddle/models'
import { prune } from '@heddle/prune'
import { done } from '@heddle/queue'
import { remember } from '@heddle/remember'
import { createLogger } from '@heddle/runtime'
import { countSummaries, listFacts, loadSummaryCosts, loadThread, type Store } from '@heddle/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ManualClock } from '../support/src/manual-clock.js'
import { type ProtocolReply, type ProtocolServer, startProtocolServer } from '../support/src/servers/protocol-server.js'
import { append, appendOne, freshStore, PROJECT, prepared } from './store/support.js'
import { jobFor } from './summarizing.js'

let store: Store
let server: ProtocolServer
beforeAll(async () => {
  const fresh = await freshStore()
  store = fresh.store
  server = await startProtocolServer()
  return fresh.drop
})
afterAll(() => server.close())

const settings: PartialSettings = {
  remember: 'model',
  rollingWindow: null,
  summarizationProvider: 'openai',
  summarizationModel: 'gpt-5-mini',
}
const SECRET = `ghp_${'a1B2c3'.repeat(6)}`
const log = createLogger({ level: 'silent', name: 'test' })

async function said(thread: string, texts: readonly string[]): Promise<void> {
  await appendOne(
    store,
    append(
      texts.map((content) => prepared({ content })),
      { thread },
    ),
  )
  await prune(jobFor(thread), { store, settings })
}

function rememberWith(thread: string, env: Record<string, string> = key()) {
  const clock = new ManualClock()
  const summarizers = createSummarizers({ env, clock, log, limits: { attemptsMax: 1 } })
  return remember(jobFor(thread), { store, settings, summarizers, log, clock: { nowMs: () => Date.now() } })
}

const key = () => ({ OPENAI_API_KEY: 'key', OPENAI_BASE_URL: server.openAiUrl })

async function stateOf(thread: string) {
  const threadId = threadIdOf(PROJECT, thread)
  return await store.inProject(PROJECT, async (tx) => {
    const facts = await listFacts(tx, { agentId: agentIdOf(PROJECT, 'weaver'), threadId, limit: 100 })
    const found = await loadThread(tx, { threadId })
    return {
      cursor: found?.rememberSeq,
      facts: facts.map(({ object, extractor }) => [object, extractor]),
      costs: await loadSummaryCosts(tx, { threadId }),
      counted: await countSummaries(tx, { threadId, sinceMs: 0 }),
    }
  })
}

function answer(...facts: readonly object[]): ProtocolReply {
  return { kind: 'text', text: JSON.stringify({ facts }) }
}
const lives = {
  message: 1,
  subject: 'user',
  predicate: 'lives in',
  object: 'Turin',
  kind: 'profile',
  quote: 'Turin is where I live',
}

test('facts of a model name it, quote their message and are stored once; its calls are recorded beside those of summaries', async () => {
  await said('modelled', ['Turin is where I live.', `I use the token ${SECRET} for the loom.`])
  server.respond(() => answer(lives, { ...lives, object: 'Oslo', quote: 'I live in Oslo' }))
  const before = server.requests.length
  expect(await rememberWith('modelled')).toEqual(done([]))
  expect(await stateOf('modelled')).toMatchObject({
    cursor: 2,
    facts: [['Turin', 'model-1 openai gpt-5-mini']],
    costs: { summaries: 0, calls: 1 },
    counted: 0,
  })
  const asked = server.requests.slice(before)
  expect(asked).toHaveLength(1)
  expect(asked[0]?.user).toContain('Turin is where I live')
  expect(JSON.stringify(asked)).not.toContain(SECRET)
  expect(await rememberWith('modelled')).toMatchObject({ kind: 'skipped' })
  expect(server.requests).toHaveLength(before + 1)
})

test('a model that is away leaves the cursor and the facts as they were, and a retry reads them', async () => {
  await said('away', ['Turin is where I live.'])
  server.respond(() => ({ kind: 'status', status: 503 }))
  await expect(rememberWith('away')).rejects.toMatchObject({ disposition: 'retry' })
  expect(await stateOf('away')).toMatchObject({ cursor: 0, facts: [], costs: { calls: 1, failedCalls: 1 } })
  server.respond(() => answer(lives))
  await rememberWith('away')
  expect(await stateOf('away')).toMatchObject({ cursor: 1, facts: [['Turin', 'model-1 openai gpt-5-mini']] })
})

test('without a model, and where its answer is unusable, the rules read and are named', async () => {
  await said('unusable', ['I live in Turin.'])
  server.respond(() => ({ kind: 'text', text: 'There are no facts in it.' }))
  await rememberWith('unusable')
  expect(await stateOf('unusable')).toMatchObject({ cursor: 1, facts: [['Turin', 'rules-1']], costs: { calls: 1 } })
  await said('keyless', ['I live in Turin.'])
  await rememberWith('keyless', {})
  expect(await stateOf('keyless')).toMatchObject({ cursor: 1, facts: [['Turin', 'rules-1']], costs: { calls: 0 } })
})

test('a model reads a thread at most 60 times an hour, then the rules do', async () => {
  await said('often', ['I live in Turin.'])
  const { threadId } = jobFor('often').payload
  await store.inProject(
    PROJECT,
    (tx) => tx`
      insert into heddle.summary_calls (thread_id, summary_id, purpose, provider, model, outcome, duration_ms)
      select ${threadId}::uuid, gen_random_uuid(), 'facts', 'openai', 'gpt-5-mini', 'ok', 1 from generate_series(1, 60)`,
  )
  const before = server.requests.length
  await rememberWith('often')
  expect(server.requests).toHaveLength(before)
  expect(await stateOf('often')).toMatchObject({ cursor: 1, facts: [['Turin', 'rules-1']], counted: 0 })
})
