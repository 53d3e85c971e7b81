import { openQueues } from '@heddle/queue'
import { backends } from '@heddle/test-support'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freshPlace, log } from './support.js'

/** More than any share without workers. */
const MANY = 1_000
const share = (projectId: string) => ({ stage: 'assemble' as const, projectId, bytes: 0 })

describe.each(backends())('the shares of projects on $title', ({ skip, open }) => {
  it.skipIf(skip)('are counted across all processes, once there is more than one project', async () => {
    const place = await freshPlace(open)
    const openOne = async () => {
      const queues = await openQueues({ ...place, log, create: true })
      onTestFinished(() => queues.close({ timeoutMs: 0 }))
      return queues
    }
    const [near, far] = [await openOne(), await openOne()]
    const places = Array.from({ length: MANY }, () => near.acquireShare(share('noisy')))
    const leave = far.acquireShare(share('quiet'))
    const tryFar = () => {
      try {
        far.acquireShare(share('noisy'))()
        return 'taken'
      } catch (error) {
        return (error as { code?: string }).code
      }
    }
    await expect.poll(tryFar, { timeout: 10_000 }).toBe('RATE_LIMITED')
    leave()
    for (const release of places) release()
    await expect.poll(tryFar, { timeout: 10_000 }).toBe('taken')
  })
})
