import { threadIdOf } from '@heddle/core'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import type { EngineContext, Previewer } from '../setup/options.js'
import { buildContext } from './build-context.js'

const PROJECT_ID = '018f0000-0000-7000-8000-000000000000'

test.each([
  ['is built', async () => ({ messages: [] })],
  ['fails', () => Promise.reject(new Error('no such thread'))],
])('stages of the thread are held until a context %s', async (_, preview: () => Promise<unknown>) => {
  const held = new Set<string>()
  const during: string[][] = []
  const parts = {
    projectId: PROJECT_ID,
    clock: new ManualClock(),
    queues: { acquireShare: () => () => {} },
    directAppends: {
      holdStages(threadId: string) {
        held.add(threadId)
        return () => held.delete(threadId)
      },
    },
    previewer: (() => {
      during.push([...held])
      return preview()
    }) as unknown as Previewer,
  } as unknown as EngineContext
  await buildContext(parts, { thread: 'talk', budget: 1_000, store: false }).catch(() => {})
  expect(during).toEqual([[threadIdOf(PROJECT_ID, 'talk')]])
  expect(held).toEqual(new Set())
})
