import type { Job } from '@heddle/queue'
import { expect, test, vi } from 'vitest'
import type { SummarizeDeps } from './deps.js'
import { summarize } from './handler.js'

test('if both summaries fail, one error goes to the queue and the other to the log', async () => {
  let failures = 0
  const store = { inProject: async () => Promise.reject(new Error(`failure ${++failures}`)) }
  const warn = vi.fn()
  const payload = {
    projectId: '018f0000-0000-7000-8000-000000000001',
    threadId: '018f0000-0000-7000-8000-000000000002',
  }
  const job = { payload, attempt: 1, signal: new AbortController().signal } as unknown as Job<typeof payload>
  const summarizing = summarize(job, { store, log: { warn }, settings: {} } as unknown as SummarizeDeps)
  await expect(summarizing).rejects.toThrow('failure 1')
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    { error: expect.objectContaining({ message: 'failure 2' }), ...payload },
    expect.any(String),
  )
})
