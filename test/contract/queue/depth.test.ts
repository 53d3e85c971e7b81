import { done, openQueues } from '@heddle/queue'
import { backends } from '@heddle/test-support'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freshPlace, ingestJob, log, startWorker } from './support.js'

describe.each(backends())('the ingest queue on $title', ({ skip, open }) => {
  const openLimited = async (ingestLimits: { jobsMax: number | null; bytesMax: number | null }) => {
    const place = await freshPlace(open)
    const openOne = async () => {
      const queues = await openQueues({ ...place, log, ingestLimits, create: true })
      onTestFinished(() => queues.close({ timeoutMs: 0 }))
      return queues
    }
    return { openOne }
  }

  describe.skipIf(skip)('is full', () => {
    it.each(['before', 'while it is paused'])(
      'when the limit of waiting jobs is reached, whoever added them, %s',
      async (when) => {
        const { openOne } = await openLimited({ jobsMax: 30, bytesMax: null })
        const [near, far] = [await openOne(), await openOne()]
        if (when !== 'before') await near.pause('ingest')
        await far.addMany(
          'ingest',
          Array.from({ length: 30 }, () => ingestJob()),
        )
        await expect(near.admit({ jobs: 1, bytes: 1 })).rejects.toMatchObject({
          code: 'RATE_LIMITED',
          retryAfter: expect.any(Number),
          facts: { waitingJobs: 30, jobsMax: 30 },
        })
      },
    )

    it('when the limit of waiting bytes is reached', async () => {
      const { openOne } = await openLimited({ jobsMax: null, bytesMax: 300_000 })
      const [near, far] = [await openOne(), await openOne()]
      // Postgres compresses payloads: only one without repetition keeps its size.
      const content = Array.from({ length: 4_000 }, () => Math.random().toString(36).slice(2)).join('')
      const [message] = ingestJob().messages
      if (message === undefined) throw new Error('a job without a message')
      const large = () => ingestJob({ messages: [{ ...message, message: { ...message.message, content } }] })
      await far.addMany('ingest', [large(), large()])
      await near.admit({ jobs: 1, bytes: 1 })
      await far.addMany('ingest', Array.from({ length: 10 }, large))
      const later = await openOne()
      await expect(later.admit({ jobs: 1, bytes: 1 })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    })

    it('no longer after workers have taken the waiting jobs', async () => {
      const { openOne } = await openLimited({ jobsMax: 5, bytesMax: null })
      const queues = await openOne()
      await queues.addMany(
        'ingest',
        Array.from({ length: 5 }, () => ingestJob()),
      )
      await expect(queues.admit({ jobs: 1, bytes: 1 })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
      const worker = await startWorker({ stage: 'ingest', queues, handler: async () => done() })
      await worker.whenSettled(5)
      await expect.poll(() => queues.admit({ jobs: 1, bytes: 1 }).then(() => 'admitted')).toBe('admitted')
    })
  })
})
