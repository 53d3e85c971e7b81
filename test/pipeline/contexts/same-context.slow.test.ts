import type { PlacedMessage, StageName } from '@heddle/contracts'
import type { RunningStages } from '@heddle/host'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allStages, openPipeline, type Pipeline, queueBackends } from '../support.js'
import { type Loom, openLoom, session, type Woven, woven } from '../weaving.js'

const messages = session('same', 150)
/** The result of the first mode in the simplest way; all other results must equal it. */
let expected: Woven | undefined

// The embedded mode has its queues in the same place as the Postgres mode.
const backends = queueBackends()
describe.each(backends)('the same messages give the same context on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('in whatever way they arrive', () => {
    let pipeline: Pipeline

    beforeAll(async () => {
      pipeline = await openPipeline(mode)
    })
    afterAll(() => pipeline?.close())

    /** Starts sets of workers one after the other, runs something with them, and stops them. */
    async function withWorkers(
      sets: readonly (readonly StageName[])[],
      work: (loom: Loom, start: (stages: readonly StageName[]) => Promise<void>) => Promise<void>,
      name: string,
    ) {
      const loom = await openLoom(pipeline, name)
      const running: RunningStages[] = []
      const start = async (stages: readonly StageName[]) => {
        running.push(await pipeline.start(stages))
      }
      try {
        for (const stages of sets) await start(stages)
        await work(loom, start)
        return await woven(loom.client)
      } finally {
        await Promise.all(running.map((stages) => stages.stop()))
      }
    }

    test('in their order, to one set of workers', async () => {
      const seen = await withWorkers(
        [allStages],
        async (loom) => {
          for (const job of jobsOf(messages, 100)) await loom.send(job)
          await loom.whenSettled(messages.length)
        },
        'plain',
      )
      expect(seen.series.filter(({ coveredCount }) => coveredCount > 0).length).toBeGreaterThan(3)
      expect(seen.latest).toMatchObject({ status: 'ready', summary: expect.stringContaining('part') })
      expected ??= seen
      expect(seen).toEqual(expected)
    })

    test('shuffled, twice, and in pieces, to three sets of workers', async () => {
      const seen = await withWorkers(
        [allStages, allStages, allStages],
        async (loom) => {
          const jobs = [...jobsOf(messages, 7), ...jobsOf(messages, 11)]
          await Promise.all(shuffled(jobs, 7).map((job) => loom.send(job)))
          await loom.whenSettled(messages.length)
        },
        'shuffled',
      )
      expect(seen).toEqual(expected)
    })

    test('while summarize and assemble start first, and prune after everything is stored', async () => {
      const seen = await withWorkers(
        [['summarize'], ['assemble'], ['embed'], ['ingest']],
        async (loom, start) => {
          for (const job of jobsOf(messages, 40)) await loom.send(job)
          await loom.client.messages.append({ agent: 'weaver', thread: 'cloth', messages: messages.map(sent) })
          await start(['prune'])
          await loom.whenSettled(messages.length)
        },
        'prune-last',
      )
      expect(seen).toEqual(expected)
    })

    test('a few at a time, compacted before the next arrive', async () => {
      const seen = await withWorkers(
        [allStages],
        async (loom) => {
          let stored = 0
          for (const job of jobsOf(messages, 30)) {
            await loom.send(job)
            stored += job.length
            await loom.whenSettled(stored)
          }
        },
        'piecemeal',
      )
      expect(seen).toEqual(expected)
    })

    test('late, into ranges that are already summarized', async () => {
      const seen = await withWorkers(
        [allStages],
        async (loom) => {
          const late = messages.filter((_, index) => index % 17 === 5 && index < 200)
          const prompt = messages.filter((message) => !late.includes(message))
          for (const job of jobsOf(prompt, 60)) await loom.send(job)
          await loom.whenSettled(prompt.length)
          const overtaken = await loom.client.threads.get('cloth')
          expect(overtaken.states.length).toBeGreaterThan(3)
          for (const [index, message] of late.entries()) {
            await loom.send([message])
            if (index % 4 === 3) await loom.whenSettled(prompt.length + index + 1)
          }
          await loom.whenSettled(messages.length)
        },
        'late',
      )
      expect(seen).toEqual(expected)
    })
  })
})

const sent = ({ message }: PlacedMessage) => message

function jobsOf(placed: readonly PlacedMessage[], size: number): PlacedMessage[][] {
  const jobs: PlacedMessage[][] = []
  for (let at = 0; at < placed.length; at += size) jobs.push(placed.slice(at, at + size))
  return jobs
}

/** The same order for the same seed. */
function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  let state = seed
  return items
    .map((item) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return { item, key: state }
    })
    .sort((left, right) => left.key - right.key)
    .map(({ item }) => item)
}
