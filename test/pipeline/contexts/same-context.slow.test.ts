import type { PlacedMessage, StageName } from '@heddle/contracts'
import type { RunningStages } from '@heddle/host'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allStages, openPipeline, type Pipeline, queueBackends } from '../support.js'
import { AGENT, openTenant, type SettledView, session, settledView, type Tenant, THREAD } from '../tenant.js'

const messages = session('same', 150)
/** The result of the first mode in the simplest way; all other results must equal it. */
let expected: SettledView | undefined

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
      work: (tenant: Tenant, start: (stages: readonly StageName[]) => Promise<void>) => Promise<void>,
      name: string,
    ) {
      const tenant = await openTenant(pipeline, name)
      const running: RunningStages[] = []
      const start = async (stages: readonly StageName[]) => {
        running.push(await pipeline.start(stages))
      }
      try {
        for (const stages of sets) await start(stages)
        await work(tenant, start)
        return await settledView(tenant.client)
      } finally {
        await Promise.all(running.map((stages) => stages.stop()))
      }
    }

    test('in their order, to one set of workers', async () => {
      const seen = await withWorkers(
        [allStages],
        async (tenant) => {
          for (const job of jobsOf(messages, 100)) await tenant.send(job)
          await tenant.whenSettled(messages.length)
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
        async (tenant) => {
          const jobs = [...jobsOf(messages, 7), ...jobsOf(messages, 11)]
          await Promise.all(shuffled(jobs, 7).map((job) => tenant.send(job)))
          await tenant.whenSettled(messages.length)
        },
        'shuffled',
      )
      expect(seen).toEqual(expected)
    })

    test('while summarize and assemble start first, and prune after everything is stored', async () => {
      const seen = await withWorkers(
        [['summarize'], ['assemble'], ['embed'], ['ingest']],
        async (tenant, start) => {
          for (const job of jobsOf(messages, 40)) await tenant.send(job)
          await tenant.client.messages.append({ agent: AGENT, thread: THREAD, messages: messages.map(sent) })
          await start(['prune'])
          await tenant.whenSettled(messages.length)
        },
        'prune-last',
      )
      expect(seen).toEqual(expected)
    })

    test('a few at a time, compacted before the next arrive', async () => {
      const seen = await withWorkers(
        [allStages],
        async (tenant) => {
          let stored = 0
          for (const job of jobsOf(messages, 30)) {
            await tenant.send(job)
            stored += job.length
            await tenant.whenSettled(stored)
          }
        },
        'piecemeal',
      )
      expect(seen).toEqual(expected)
    })

    test('late, into ranges that are already summarized', async () => {
      const seen = await withWorkers(
        [allStages],
        async (tenant) => {
          const late = messages.filter((_, index) => index % 17 === 5 && index < 200)
          const prompt = messages.filter((message) => !late.includes(message))
          for (const job of jobsOf(prompt, 60)) await tenant.send(job)
          await tenant.whenSettled(prompt.length)
          const overtaken = await tenant.client.threads.get(THREAD)
          expect(overtaken.states.length).toBeGreaterThan(3)
          for (const [index, message] of late.entries()) {
            await tenant.send([message])
            if (index % 4 === 3) await tenant.whenSettled(prompt.length + index + 1)
          }
          await tenant.whenSettled(messages.length)
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
