import { openQueues } from '@heddle/queue'
import { backends, QUEUE_PREFIX } from '@heddle/test-support'
import { queueSchema } from '@heddle/test-support/servers/queue-server'
import postgres from 'postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ingestJob, log } from '../contract/queue/support.js'
import { base, render } from './rendered.js'

/** The query that KEDA's trigger `postgresql` runs for ingest. */
async function readQuery(): Promise<string> {
  const values = [...base, 'stages.ingest.autoscaling.enabled=true', 'autoscaling.trigger=postgresql']
  const objects = await render([...values, `queuePrefix=${QUEUE_PREFIX}`])
  const { spec } = objects.find(({ kind }) => kind === 'ScaledObject') as unknown as {
    spec: { triggers: { metadata: { query: string } }[] }
  }
  return spec.triggers[0]?.metadata.query ?? ''
}

describe.each(backends().filter(({ kind }) => kind === 'postgres'))('the query of KEDA on $title', ({ skip, open }) => {
  it.skipIf(skip)('returns what the signal returns: waiting, due, paused, empty', async () => {
    const { kind, url, drop } = await open()
    onTestFinished(drop)
    const queues = await openQueues({ backend: { kind, url }, prefix: QUEUE_PREFIX, log, create: true })
    onTestFinished(() => queues.close({ timeoutMs: 0 }))
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    onTestFinished(() => sql.end())
    const query = await readQuery()
    const asked = async () => Number(Object.values((await sql.unsafe(query))[0] ?? {})[0])
    const signal = async () => ((await queues.backlogs())[0]?.oldestWaitMs ?? 0) / 1_000
    expect(await asked()).toBe(0)
    await queues.addMany('ingest', [ingestJob(), ingestJob()])
    const ago = (ms: number) => String(Date.now() - ms)
    const job = `"${queueSchema(QUEUE_PREFIX)}".job`
    await sql.unsafe(`UPDATE ${job} SET added_at_ms = ${ago(30_000)}`)
    expect(Math.abs((await asked()) - (await signal()))).toBeLessThan(5)
    expect(await asked()).toBeGreaterThanOrEqual(30)
    await sql.unsafe(`UPDATE ${job} SET state = 'delayed', process_at_ms = ${ago(20_000)}`)
    expect(await asked()).toBeGreaterThanOrEqual(20)
    expect(await asked()).toBeLessThan(30)
    expect(Math.abs((await asked()) - (await signal()))).toBeLessThan(5)
    await sql.unsafe(`UPDATE ${job} SET process_at_ms = ${ago(-60_000)}`)
    expect([await asked(), await signal()]).toEqual([0, 0])
    await sql.unsafe(`UPDATE ${job} SET state = 'waiting', process_at_ms = NULL`)
    expect(await asked()).toBeGreaterThanOrEqual(30)
    await queues.pause('ingest')
    expect(await asked()).toBe(0)
  })
})
