import { stageNames } from '@heddle/contracts'
import { done } from '@heddle/queue'
import { backends, waitFor } from '@heddle/test-support'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freshQueues, someThread, startWorker, type TestWorker } from './support.js'

const SETS = 3
const JOBS = 30

describe.each(backends())('workers on $title', ({ skip, open }) => {
  it.skipIf(skip)('of several sets in one process cause no warning about leaked listeners', async () => {
    const warnings: string[] = []
    const onWarning = (warning: Error) => warnings.push(`${warning.name}: ${warning.message}`)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))

    const queues = await freshQueues(open)
    const workers: TestWorker[] = []
    for (let set = 0; set < SETS; set++) {
      for (const stage of stageNames) workers.push(await startWorker({ stage, queues, handler: async () => done() }))
    }
    // While one stage processes job after job, the workers of all others wait for theirs, on one connection.
    for (let job = 1; job <= JOBS; job++) {
      await queues.wake('prune', someThread())
      await waitFor(() => workers.reduce((sum, { settled }) => sum + settled.length, 0) === job)
    }
    await Promise.all(workers.map(({ handle }) => handle.close()))
    // Node emits warnings in the next iteration of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
  })
})
