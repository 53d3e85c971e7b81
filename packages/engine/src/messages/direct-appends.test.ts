import type { IngestJob } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { DirectAppends, type DirectAppendsOptions } from './direct-appends.js'

const REQUEST = '018f0000-0000-7000-8000-000000000002'
const THREAD = '018f0000-0000-7000-8000-000000000001'

/** Direct appends to a store that accepts everything, with the wakes that they sent. */
function appending() {
  const clock = new ManualClock()
  const woken: string[] = []
  const outcome = { requestId: REQUEST, threadId: THREAD, stored: 1, repeated: 0, headSeq: 1, error: null }
  const directAppends = new DirectAppends({
    store: { inProject: async () => [outcome] },
    queues: { wakeMany: async (stage: string) => void woken.push(stage), publish: async () => {} },
    clock,
    log: { warn: () => {}, debug: () => {} },
  } as unknown as DirectAppendsOptions)
  const job = {
    projectId: '018f0000-0000-7000-8000-000000000000',
    requestId: REQUEST,
    agent: 'coder',
    thread: 'talk',
    messages: [
      {
        message: { id: '018f0000-0000-7000-8000-000000000003', role: 'user', content: 'hello' },
        ordinal: 0,
        orderedAt: '2026-02-12T14:30:00.000Z',
      },
    ],
  } satisfies IngestJob
  const append = () => directAppends.store({ job, bytes: 100 }, { endsAtMs: clock.monotonicMs() + 30_000 })
  return { clock, woken, directAppends, append }
}

test('the stages after an append wait for a context of the thread', async () => {
  const { clock, woken, directAppends, append } = appending()
  expect(await append()).toEqual({ stored: 1 })
  const end = directAppends.holdStages(THREAD)
  await clock.advance(900)
  expect(woken).toEqual([])
  end()
  expect(woken.sort()).toEqual(['embed', 'prune'])
})

test('the stages after an append without a context are woken soon', async () => {
  const { clock, woken, append } = appending()
  await append()
  expect(woken).toEqual([])
  await clock.advance(25)
  expect(woken.sort()).toEqual(['embed', 'prune'])
})

test('the stages of the last appends are woken when the process ends', async () => {
  const { woken, directAppends, append } = appending()
  await append()
  directAppends.holdStages(THREAD)
  await directAppends.close()
  expect(woken.sort()).toEqual(['embed', 'prune'])
})
