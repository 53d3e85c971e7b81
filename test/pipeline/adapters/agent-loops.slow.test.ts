import { expect, test } from 'vitest'
import { type Served, servePipeline } from '../doors/http-support.js'
import type { Pipeline } from '../support.js'
import { runKilled } from './killed-loop.js'
import { costOf, lineOf, orphansInChat, printCost } from './loop-script.js'

let pipeline: Pipeline
let http: Served
servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})

const TURNS = 200
const BUDGET = 6_000

const frameworks = [
  { framework: 'langchain', process: 'langchain-loop-process' },
  { framework: 'openai-agents', process: 'agents-loop-process' },
]

test.each(frameworks)(
  'an agent of $framework with 200 turns, killed and resumed twice, stays within its budget, and nothing is lost',
  async ({ framework, process }) => {
    const thread = `${framework}-loop`
    const program = new URL(`./${process}.ts`, import.meta.url)
    const env = { THREAD: thread, BUDGET: `${BUDGET}` }
    const requests = await runKilled({ program, turns: TURNS, env: { ...env, HEDDLE_URL: http.url } }, [70, 140])
    expect(requests.flatMap(({ messages = [] }) => orphansInChat(messages))).toEqual([])
    const withHeddle = costOf(requests)
    // The budget counts what is said, without the names of fields that the JSON has.
    expect(withHeddle.tokensMax).toBeLessThan(BUDGET * 1.5)
    const results = new Set<string>()
    let cursor: string | null = null
    do {
      const page = await pipeline.client.messages.list({ thread, limit: 500, ...(cursor !== null && { cursor }) })
      for (const { role, content } of page.items) if (role === 'tool_result') results.add(content)
      cursor = page.nextCursor
    } while (cursor !== null)
    expect(results).toEqual(new Set(Array.from({ length: TURNS }, (_, index) => lineOf(index + 1))))
    printCost(`adapters.${framework}.loop`, withHeddle, costOf(await runKilled({ program, turns: TURNS, env }, [])))
  },
  600_000,
)
