import type { PartialSettings } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import type { Pruned } from '@heddle/prune'
import { listStates, loadCompaction, type Store } from '@heddle/store'
import { beforeAll, expect, test } from 'vitest'
import { append, appendOne, freshStore, PROJECT, prepared, RECEIVED_AT_MS } from './store/support.js'
import { pruneOnce, say, settle, TestSummarizer } from './summarizing.js'

let store: Store

beforeAll(async () => {
  const fresh = await freshStore()
  store = fresh.store
  return fresh.drop
})

const settings: PartialSettings = { budget: 4_000, rollingWindow: null }

const statesOf = (thread: string) =>
  store.inProject(PROJECT, async (tx) => {
    const found = await loadCompaction(tx, { threadId: threadIdOf(PROJECT, thread), settings })
    if (!found) throw new Error('the thread is gone')
    const { threadId, clearEpoch } = found.thread
    return await listStates(tx, { threadId, lane: found.lane.key, clearEpoch, limit: 100 })
  })

test('disableAutoSummarize leaves a thread as it is, however long it grows, until it is taken back', async () => {
  const summarizer = new TestSummarizer()
  await say(store, 'left alone', 1, 200)
  await settle(store, 'left alone', { ...settings, disableAutoSummarize: true }, summarizer)
  expect(await statesOf('left alone')).toEqual([])
  expect(summarizer.asked).toEqual([])

  await settle(store, 'left alone', settings, summarizer)
  expect((await statesOf('left alone')).at(-1)).toMatchObject({ status: 'ready', summary: expect.any(String) })
  expect(summarizer.asked.length).toBeGreaterThan(0)
})

test('a worker logs how much it pruned, without contents', async () => {
  const call = (id: string) => ({ id, name: 'Read', arguments: { file_path: `/src/${id}.ts` } })
  const messages = Array.from({ length: 20 }, (_, index) => [
    prepared(
      { role: 'assistant', content: '', toolCalls: [call(`c${index}`)] },
      { orderedAtMs: RECEIVED_AT_MS + 2 * index },
    ),
    prepared(
      { role: 'tool_result', toolCallId: `c${index}`, toolName: 'Read', content: 'const secret = 1\n'.repeat(40) },
      { orderedAtMs: RECEIVED_AT_MS + 2 * index + 1 },
    ),
  ]).flat()
  await appendOne(store, append(messages, { thread: 'pruned' }))
  const lines: unknown[] = []
  const log = { info: (...line: unknown[]) => void lines.push(line) }
  const reports: Pruned[] = []
  await pruneOnce(store, 'pruned', settings, { log, onPruned: (_, pruned) => reports.push(pruned) })
  expect(lines).toEqual([
    [
      {
        projectId: PROJECT,
        threadId: threadIdOf(PROJECT, 'pruned'),
        compactions: expect.any(Number),
        condensed: expect.any(Number),
        stubbed: 0,
        removed: 0,
        tokensSaved: expect.any(Number),
      },
      'context pruned',
    ],
  ])
  expect(lines).toEqual([[expect.objectContaining(reports[0]?.counts ?? {}), 'context pruned']])
  const [[facts]] = lines as [[{ condensed: number; tokensSaved: number }]]
  expect(facts.condensed).toBeGreaterThan(5)
  expect(facts.tokensSaved).toBeGreaterThan(1_000)
})
