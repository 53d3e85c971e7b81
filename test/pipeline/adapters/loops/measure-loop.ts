import { createClient } from '@heddle/client/http'
import { type KilledLoop, runKilled } from './killed-loop.js'
import { lineOf } from './loop-line.js'
import { costOf, type LoopCost, orphansInChat } from './loop-script.js'

const TURNS = 200
export const LOOP_BUDGET = 6_000
const KILLED_AFTER = [70, 140]

export interface MeasuredLoop extends Pick<KilledLoop, 'start' | 'respond'> {
  /** Of the framework, such as `ai-sdk-6`. */
  readonly name: string
  /** Of Heddle. */
  readonly url: string
  /** The framework's own ways to remember, as `MEMORY` of the program. */
  readonly memories: readonly string[]
}

export interface LoopFigures {
  /** Calls without their results, and the reverse, in the requests of all turns. */
  readonly orphans: readonly string[]
  /** Turns whose result is not stored as it was. */
  readonly lost: readonly number[]
  readonly withHeddle: LoopCost
}

/**
 * Runs an agent with Heddle whose process is killed and started again twice, then with its framework's own memory, and prints
 * what each cost.
 */
export async function measureLoop({ name, url, memories, ...how }: MeasuredLoop): Promise<LoopFigures> {
  const thread = `${name}-loop`
  const env = { THREAD: thread, BUDGET: `${LOOP_BUDGET}` }
  const run = (more: Readonly<Record<string, string | undefined>>, killedAfter: readonly number[]) =>
    runKilled({ ...how, turns: TURNS, env: { ...env, ...more } }, killedAfter)
  const requests = await run({ HEDDLE_URL: url }, KILLED_AFTER)
  const results = await resultsIn(url, thread)
  const turns = Array.from({ length: TURNS }, (_, index) => index + 1)
  const withHeddle = costOf(requests)
  for (const memory of memories) {
    printCost(name, memory, withHeddle, costOf(await run({ HEDDLE_URL: undefined, MEMORY: memory }, [])))
  }
  return {
    orphans: requests.flatMap(({ messages = [] }) => orphansInChat(messages)),
    lost: turns.filter((turn) => !results.has(lineOf(turn))),
    withHeddle,
  }
}

async function resultsIn(url: string, thread: string): Promise<Set<string>> {
  const { messages } = createClient({ url })
  const results = new Set<string>()
  let cursor: string | null = null
  do {
    const page = await messages.list({ thread, limit: 500, ...(cursor !== null && { cursor }) })
    for (const { role, content } of page.items) if (role === 'tool_result') results.add(content)
    cursor = page.nextCursor
  } while (cursor !== null)
  return results
}

function printCost(framework: string, memory: string, withHeddle: LoopCost, own: LoopCost): void {
  const figure = { name: `adapters.${framework}.loop`, unit: 'uncached tokens', value: withHeddle.cost }
  const ratio = Math.round((withHeddle.cost / own.cost) * 1_000) / 1_000
  process.stdout.write(`${JSON.stringify({ ...figure, memory, baseline: own.cost, ratio, withHeddle, own })}\n`)
}
