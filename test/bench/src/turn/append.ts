import { createClient, type RemoteClient } from '@heddle/client/http'
import type { Client } from '@heddle/client/interface'
import type { Measured } from '@heddle/test-support/figure'
import type { Bench } from '../bench.js'
import { conversationOf } from '../contexts/conversation.js'
import { insertRows, rowsOf } from '../ingest/insert-ceiling.js'
import { startGatewayProcess } from '../load/gateways.js'
import { interleaved, median, percentile, timed } from '../load/statistics.js'
import { allStages, p50Of, settings } from './one-turn.js'

/** Calls of each way before the first measured one: a gateway has compiled what a call runs after three thousand. */
const CALLS_BEFORE = 3_000
const CALLS = 600
const ROUNDS = 5
const CALLS_PER_ROUND = 60
const MANY = 100
const MANY_CALLS_PER_ROUND = 12

/**
 * One caller who appends and waits until its messages are stored, call after call, on a thread of its own, with workers of
 * all stages in one other process. The call over HTTP alternates with it call by call, since the speed of a machine changes by
 * more than HTTP adds within a round. The ceiling is one insert of the same rows by postgres.js, with its commit; inserts are in
 * rounds of their own, since the stages of an append that came just before would slow them.
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
    const append = (client: Client | RemoteClient, thread: string, count: number) => {
      const messages = conversationOf(count)
      return timed(() => client.messages.append({ agent, thread, messages }))
    }
    const insert = (count: number, calls: number) => {
      const rows = rowsOf(bench.projectId, calls, count)
      return p50Of(calls, (call) => timed(() => insertRows(bench.sql, rows.slice(call * count, (call + 1) * count))))
    }
    for (const client of [bench.client, remote]) {
      const thread = bench.fresh('warm')
      for (let call = 0; call < CALLS_BEFORE; call++) await append(client, thread, 1)
    }
    const one = await interleaved(CALLS, {
      queue: () => append(bench.client, threads.queue, 1),
      http: () => append(remote, threads.http, 1),
    })
    const p50 = await interleaved(ROUNDS, {
      insertOne: () => insert(1, CALLS_PER_ROUND),
      many: () => p50Of(MANY_CALLS_PER_ROUND, () => append(bench.client, threads.many, MANY)),
      insertMany: () => insert(MANY, MANY_CALLS_PER_ROUND),
    })
    const oneMs = median(one.queue)
    const note = `p99 ${percentile(one.queue, 0.99).toFixed(1)} ms; ${one.queue.length} calls, one at a time`
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
        value: median(one.http) - oneMs,
        unit: 'ms',
        target: '<= 1.5',
        note: `p50 ${median(one.http).toFixed(2)} ms, p99 ${percentile(one.http, 0.99).toFixed(1)} ms through a gateway in a process of its own`,
      },
    ]
  } finally {
    await gateway.stop()
    await workers.stop()
  }
}
