import { mergeSettings } from '@heddle/contracts'
import { type BuildInput, estimateTokens } from '@heddle/core'
import type { Clock } from '@heddle/runtime'
import type { Store } from '@heddle/store'
import { expect, test, vi } from 'vitest'
import { recallMemories } from './recall-memories.js'

const input: BuildInput = {
  agent: { name: 'coder', version: 1, systemPrompt: '', docs: [] },
  thread: { name: 'run', title: null, goal: null, status: null },
  request: { thread: 'run', message: 'which colour was it?', memories: true },
  settings: mergeSettings({}),
  format: 'neutral',
  counter: 'o200k',
  count: estimateTokens,
  messages: [],
  unloaded: [],
  ineligible: {},
  imported: 0,
  state: null,
  stateId: null,
  headSeq: 0,
  clearEpoch: 0,
  reference: ({ code }) => `msg-${code}`,
}

const recall = (given: { inProject: () => Promise<never>; changed?: Partial<BuildInput>; after?: Clock['after'] }) =>
  recallMemories(
    {
      store: { inProject: given.inProject } as unknown as Store,
      clock: {
        nowMs: () => 0,
        monotonicMs: () => 0,
        wait: () => Promise.resolve(),
        after: given.after ?? (() => () => {}),
      },
      settings: {},
      log: { warn: () => {} },
    },
    {
      projectId: '01998c1e-0000-7000-8000-000000000001',
      threadId: '01998c1e-0000-7000-8000-000000000002',
      thread: { projectName: 'default' },
      input: { ...input, ...given.changed },
      built: { receipt: { entries: [] } },
      deadlineAtMs: 10_000,
    },
  )

test('a context that asks for no memories searches nothing', async () => {
  const inProject = vi.fn(() => Promise.reject(new Error('asked')))
  expect(await recall({ inProject, changed: { request: { thread: 'run', message: 'hello' } } })).toBeNull()
  expect(await recall({ inProject, changed: { request: { thread: 'run', memories: true } } })).toMatchObject({
    found: [],
    outcome: { skipped: 'neither the request nor the thread has a text to search by' },
  })
  expect(inProject).not.toHaveBeenCalled()
})

test('a failed search omits only the memories, and the receipt says so', async () => {
  const recalled = await recall({ inProject: () => Promise.reject(new Error('the disk is on fire')) })
  expect(recalled).toMatchObject({ found: [], outcome: { skipped: expect.stringContaining('INTERNAL') } })
})

test('a search that exceeds its time limit is not awaited', async () => {
  const after = vi.fn<Clock['after']>((_, callback) => {
    callback()
    return () => {}
  })
  const recalled = await recall({ inProject: () => new Promise(() => {}), after })
  expect(recalled).toMatchObject({
    found: [],
    outcome: { skipped: 'TIMEOUT: the search did not finish within 3000 ms' },
  })
  expect(after).toHaveBeenCalledWith(3_000, expect.any(Function))
})
