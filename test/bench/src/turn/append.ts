import { createClient, type RemoteClient } from '@heddle/client/http'
import type { Client } from '@heddle/client/interface'
import type { Measured } from '@heddle/test-support/figure'
import type { Bench } from '../bench.js'
import { conversationOf } from '../contexts/conversation.js'
import { insertRows, rowsOf } from '../ingest/insert-ceiling.js'
import { startGatewayProcess } from '../load/gateways.js'
import { interleaved, median, percentile, timed } from '../load/statistics.js'
import { allStages, p50Of, settings } from './one-turn.js'

/** Calls before the first measured one: a process has compiled what a call runs after a thousand. */
const CALLS_BEFORE = 1_500
const ROUNDS = 5
const CALLS_PER_ROUND = 60
const MANY = 100
const MANY_CALLS_PER_ROUND = 12

/**
 * One caller who appends and waits until its messages are stored, call after call, on a thread of its own, with workers of
 * all stages in one other process. The ceiling is one insert of the same rows by postgres.js, with its commit.
 */
export async function measureAppendTurns(bench: Bench): Promise<Measured[]> {
  const { backend } = bench.servers
  const agent = bench.fresh('turns')
  await bench.client.agents.put(agent, { settings })
  const workers = await bench.startStages(...allStages)
  const gateway = await startGatewayProcess(bench)
  try {
    const { key } = await bench.client.keys.create({ name: 'turns', role: 'agent' })
    const remote = createClient({ url: gateway.url, key })
    const threads = { queue: bench.fresh('turns'), http: bench.fresh('turns'), many: bench.fresh('turns') }
    const tookMs: number[] = []
    const append = (client: Client | RemoteClient, thread: string, count: number, calls: number) =>
      p50Of(calls, async () => {
        const messages = conversationOf(count)
        const ms = await timed(() => client.messages.append({ agent, thread, messages }))
        if (count === 1) tookMs.push(ms)
        return ms
      })
    const insert = (count: number, calls: number) => {
      const rows = rowsOf(bench.projectId, calls, count)
      return p50Of(calls, (call) => timed(() => insertRows(bench.sql, rows.slice(call * count, (call + 1) * count))))
    }
    for (const client of [bench.client, remote]) await append(client, bench.fresh('warm'), 1, CALLS_BEFORE)
    tookMs.length = 0
    const p50 = await interleaved(ROUNDS, {
      one: () => append(bench.client, threads.queue, 1, CALLS_PER_ROUND),
      http: () => append(remote, threads.http, 1, CALLS_PER_ROUND),
      insertOne: () => insert(1, CALLS_PER_ROUND),
      many: () => append(bench.client, threads.many, MANY, MANY_CALLS_PER_ROUND),
      insertMany: () => insert(MANY, MANY_CALLS_PER_ROUND),
    })
    const oneMs = median(p50.one)
    const note = `p99 ${percentile(tookMs, 0.99).toFixed(1)} ms; ${CALLS_PER_ROUND} calls a round, one at a time`
    return [
      {
        name: `turn.append1.${backend}`,
        value: oneMs,
        unit: 'ms',
        ceiling: median(p50.insertOne),
        target: '<= 6',
        note,
      },
      { name: `turn.append1.took.${backend}`, value: oneMs, unit: 'ms', target: '<= 3', note },
      {
        name: `turn.append100.${backend}`,
        value: median(p50.many),
        unit: 'ms',
        ceiling: median(p50.insertMany),
        target: '<= 5',
      },
      {
        name: `turn.append1.http.${backend}`,
        value: median(p50.http) - oneMs,
        unit: 'ms',
        target: '<= 1.5',
        note: `${median(p50.http).toFixed(2)} ms through a gateway in a process of its own`,
      },
    ]
  } finally {
    await gateway.stop()
    await workers.stop()
  }
}
