import type { Queues, StageBacklog } from '@heddle/queue'
import type { Store } from '@heddle/store'
import { expect, test } from 'vitest'
import { createClient } from '../client.js'

test('a client without queues is created, and only operations on queues fail', async () => {
  const client = createClient({ store: {} as Store, queues: null, project: 'tests' })
  await expect(client.stages.list()).rejects.toThrow('this client was created without queues')
})

test('the figure to scale by is the wait in seconds, and 0 for a paused stage, which still shows its backlog', async () => {
  const jobs = { waiting: 5, prioritized: 2, due: 3, oldestWaitMs: 1_500 }
  const backlogs: StageBacklog[] = [
    { stage: 'ingest', ...jobs, paused: false },
    { stage: 'prune', ...jobs, paused: true },
    { stage: 'embed', waiting: 0, prioritized: 0, due: 0, oldestWaitMs: null, paused: false },
  ]
  const queues = { backlogs: async () => backlogs } as Partial<Queues> as Queues
  const { stages } = await createClient({ store: {} as Store, queues, project: 'tests' }).stages.scaling()
  const shown = { backlog: 8, waiting: 5, prioritized: 2, due: 3, oldestWaitSeconds: 1.5 }
  expect(stages).toEqual({
    ingest: { ...shown, paused: false, scaleSeconds: 1.5 },
    prune: { ...shown, paused: true, scaleSeconds: 0 },
    embed: { backlog: 0, waiting: 0, prioritized: 0, due: 0, oldestWaitSeconds: 0, paused: false, scaleSeconds: 0 },
  })
})
