import type { PartialSettings } from '@heddle/contracts'
import { createSummarizers } from '@heddle/models'
import { createLogger } from '@heddle/runtime'
import type { Store } from '@heddle/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ManualClock } from '../support/src/manual-clock.js'
import { type ProtocolServer, startProtocolServer } from '../support/src/servers/protocol-server.js'
import { freshStore, PROJECT } from './store/support.js'
import { compactionOf, pruneOnce, say, summarizeOnce } from './summarizing.js'

let store: Store
let server: ProtocolServer
beforeAll(async () => {
  const fresh = await freshStore()
  store = fresh.store
  server = await startProtocolServer()
  return fresh.drop
})
afterAll(() => server.close())

const partsLeft = () =>
  store.inProject(PROJECT, async (tx) => {
    const [row] = await tx<{ count: number }[]>`select count(*)::int as count from heddle.summary_parts`
    return row?.count
  })

test('a summary of 41 calls that fails at the 20th resumes from there, also in another process', async () => {
  // A model in no table has a window of 8,000 tokens.
  const [summarizationProvider, summarizationModel] = ['openai', 'some-small-model'] as const
  const settings: PartialSettings = { budget: 16_000, rollingWindow: null, summarizationProvider, summarizationModel }
  const summarizers = () =>
    createSummarizers({
      env: { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: server.openAiUrl },
      clock: new ManualClock(),
      log: createLogger({ level: 'silent', name: 'test' }),
      limits: { attemptsMax: 1 },
    })
  await say(store, 'folded', 1, 320, 1_000)
  // All compactions at once: each supersedes the previous one, and the last one's range is the longest.
  while ((await pruneOnce(store, 'folded', settings)).next?.some(({ wake }) => wake === 'prune'));
  const answered = new Set<string>()
  let isAway = true
  const asked: string[] = []
  server.respond(({ user }) => {
    if (isAway && answered.size >= 19) return { kind: 'status', status: 401 }
    asked.push(user)
    answered.add(user)
    return { kind: 'text', text: 'They went on with the work.' }
  })
  await expect(summarizeOnce(store, 'folded', settings, summarizers())).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  const finished = answered.size
  expect(finished).toBe(19)
  expect(await partsLeft()).toBeGreaterThanOrEqual(finished - 3)

  isAway = false
  asked.length = 0
  await summarizeOnce(store, 'folded', settings, summarizers())
  const total = finished + asked.length
  expect(total).toBeGreaterThanOrEqual(41)
  expect(total).toBeLessThanOrEqual(44)
  expect(asked.length).toBeLessThanOrEqual(41 - finished + 3)
  // Running calls may be lost when another one fails; there are four at once.
  expect(total - new Set([...answered, ...asked]).size).toBeLessThanOrEqual(3)
  const { current } = await compactionOf(store, 'folded', settings)
  expect(current).toMatchObject({ status: 'ready', summary: 'They went on with the work.' })
  expect(await partsLeft()).toBe(0)
})
