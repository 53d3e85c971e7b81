import { setTimeout as wait } from 'node:timers/promises'
import { createClient } from '@heddle/client/http'
import type { NewMessage } from '@heddle/client/interface'
import type { Measured } from '@heddle/test-support/figure'
import type { Bench } from '../bench.js'
import { conversationOf } from '../contexts/conversation.js'
import { startGatewayProcess } from '../load/gateways.js'
import { median, timed } from '../load/statistics.js'
import { allStages, p50Of, settings } from './one-turn.js'

const MESSAGES = 1_000
/** After them the code of a turn is compiled in all processes. */
const WARMING_TURNS = 100
const TURNS = 30
const PAUSES = 6
/** As long as a model takes to answer, and longer than drivers keep unused connections by default. */
const PAUSE_MS = 12_000
const SETTLE_DEADLINE_MS = 60_000

/**
 * The turn of an agent that thinks in between: append one message and build the context in one call, after a pause in which
 * nothing happened, in the same process (`paused1k`) and over HTTP (`paused1k.http`). The ceiling is one of many turns in a
 * row.
 */
export async function measurePausedTurns(bench: Bench): Promise<Measured[]> {
  const { backend } = bench.servers
  const workers = await bench.startStages(...allStages)
  const gateway = await startGatewayProcess(bench)
  try {
    const agent = bench.fresh('paused')
    await bench.client.agents.put(agent, { settings })
    const { key } = await bench.client.keys.create({ name: 'paused', role: 'agent' })
    const remote = createClient({ url: gateway.url, key })
    const turnsOf = async (client: Pick<typeof remote, 'contexts'>) => {
      const thread = bench.fresh('paused')
      const settle = () => bench.client.threads.waitUntilSettled(thread, { deadlineMs: SETTLE_DEADLINE_MS })
      await bench.client.messages.append({ agent, thread, messages: conversationOf(MESSAGES) })
      await settle()
      const request = { agent, thread, budget: 32_000, format: 'openai-chat' } as const
      const turn = (append: readonly NewMessage[]) => timed(() => client.contexts.build({ ...request, append }))
      await p50Of(WARMING_TURNS, (call) => turn(conversationOf(1, call)))
      await settle()
      return { settle, turn }
    }
    const here = await turnsOf(bench.client)
    const http = await turnsOf(remote)
    const inARow = async ({ turn, settle }: typeof here) => {
      const ms = await p50Of(TURNS, (call) => turn(conversationOf(1, call)))
      await settle()
      return ms
    }
    const rows = { here: await inARow(here), http: await inARow(http) }
    const tookMs: Record<keyof typeof rows, number[]> = { here: [], http: [] }
    for (let pause = 0; pause < PAUSES; pause++) {
      for (const [way, { turn }] of [
        ['here', here],
        ['http', http],
      ] as const) {
        await wait(PAUSE_MS)
        tookMs[way].push(await turn(conversationOf(1, pause)))
      }
    }
    const figure = (name: string, way: keyof typeof rows) => ({
      name: `turn.${name}.${backend}`,
      value: median(tookMs[way]),
      unit: 'ms',
      ceiling: rows[way],
      target: '<= 2',
      note: `${PAUSES} turns, each after ${PAUSE_MS / 1_000} s: ${tookMs[way].map((ms) => ms.toFixed(1)).join(', ')}`,
    })
    return [figure('paused1k', 'here'), figure('paused1k.http', 'http')]
  } finally {
    await gateway.stop()
    await workers.stop()
  }
}
