import { createAssembler, createAssembleWorker } from '@heddle/assemble'
import { createLogger, systemClock } from '@heddle/runtime'
import { waitFor } from '@heddle/test-support'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'

/** Contexts of one project that a worker builds at once. */
const SLOTS = 16
const SLOW_MS = 5_000
const PATIENT_MS = 60_000
/** Less than twice the duration of a slow build, also once a few faster ones were counted, and enough for one without others. */
const LITTLE_MS = SLOW_MS + 2_000

test.each([
  { where: 'built by its worker', isLarge: false },
  { where: 'built elsewhere for its size', isLarge: true },
])(
  'a request that waited for others is refused if it would be late, and one with more time is answered, $where',
  async ({ isLarge }) => {
    const pipeline = await openPipeline()
    onTestFinished(() => pipeline.close())
    let aheadMs = 0
    const clock = {
      ...systemClock,
      nowMs: () => systemClock.nowMs() + aheadMs,
      monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    }
    await pipeline.start(['ingest'])
    const { client, store, queues } = pipeline
    const deps = { store, queues, settings: {}, clock, log: createLogger({ level: 'fatal', name: 'test' }) }
    const elsewhere = createAssembler(deps)
    const worker = await createAssembleWorker({
      ...deps,
      recordDeadLetter: async () => {},
      ...(isLarge && {
        large: {
          sizeMax: { messages: 0, tokens: 0 },
          carryOut: async (job) => ({ outcome: await elsewhere(job, { publish: () => {} }), events: [] }),
        },
      }),
    })
    onTestFinished(() => worker.close())
    await client.messages.append({
      agent: 'weaver',
      thread: 'loom',
      messages: [{ role: 'user', content: 'Warp it.' }],
      ack: 'stored',
    })
    const build = (message: string, deadlineMs: number) =>
      client.contexts.build({ thread: 'loom', message }, { deadlineMs, idempotencyKey: message }).then(
        ({ messages }) => JSON.stringify(messages).includes(message),
        (error: { code: string; message: string }) => ({ code: error.code, message: error.message }),
      )

    const releaseFirst = await holdBuilds(pipeline)
    const first = build('first', PATIENT_MS)
    await whenRunning(pipeline, 1)
    aheadMs += SLOW_MS
    await releaseFirst()
    expect(await first).toBe(true)
    await whenRunning(pipeline, 0)

    const release = await holdBuilds(pipeline)
    const slow = Array.from({ length: SLOTS }, (_, index) => build(`slow ${index}`, PATIENT_MS))
    await whenRunning(pipeline, SLOTS)
    const late = build('late', LITTLE_MS)
    const patient = build('patient', PATIENT_MS)
    await whenRunning(pipeline, SLOTS + 2)
    await release()

    expect(await Promise.all(slow)).toEqual(slow.map(() => true))
    expect(await late).toEqual({
      code: 'TIMEOUT',
      message: 'the request waited for others, and would be answered after its deadline',
    })
    expect(await patient).toBe(true)
    // Callers that waited long have sent their requests again; once those are done, little time is enough.
    await expect.poll(() => build('soon', LITTLE_MS)).toBe(true)
    // A repeat of the refused request, which has the same key.
    expect(await build('late', PATIENT_MS)).toBe(true)
  },
)

/** Blocks the commits of contexts until it is released. */
async function holdBuilds({ databaseUrl }: Pipeline): Promise<() => Promise<void>> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  onTestFinished(() => sql.end({ timeout: 1 }))
  const holding = await sql.reserve()
  await holding`begin`
  await holding`lock table heddle.contexts in exclusive mode`
  return async () => {
    await holding`rollback`
    holding.release()
  }
}

async function whenRunning({ queues }: Pipeline, jobs: number): Promise<void> {
  const running = async () => (await queues.stats()).find(({ stage }) => stage === 'assemble')?.active
  await waitFor(async () => (await running()) === jobs, { what: `${jobs} jobs of assemble` })
}
