import { createInterface } from 'node:readline'
import { heddleProcessors } from '@heddle/mastra'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { LibSQLStore } from '@mastra/libsql'
import { Memory } from '@mastra/memory'
import { z } from 'zod'

/*
 * An agent of Mastra with its memory, which runs as many turns as each line of its input says, and prints how long calls of
 * Heddle's processor took and how often it said that Heddle was away. Heddle is stopped and started from outside.
 */

const { HEDDLE_URL: heddleUrl, PROVIDER_URL: url = '', THREAD: thread = '' } = process.env
let nowMs = 0
let aways = 0
const processors = heddleProcessors({
  agent: 'outage',
  url: heddleUrl,
  now: () => nowMs,
  onAway: () => {
    aways += 1
  },
})
const [processor] = processors.inputProcessors
let callsMs: number[] = []
for (const name of ['processLLMRequest', 'processOutputStep', 'processOutputResult'] as const) {
  const call = processor[name].bind(processor) as (given: never) => Promise<never>
  const timed = async (given: never) => {
    const startedMs = performance.now()
    const result = await call(given)
    callsMs.push(performance.now() - startedMs)
    return result
  }
  Object.assign(processor, { [name]: timed })
}
const agent = new Agent({
  id: 'outage',
  name: 'Outage',
  instructions: 'Look each time.',
  model: { id: 'provider/scripted', url, apiKey: 'none' },
  tools: {
    look: createTool({
      id: 'look',
      description: 'Looks.',
      inputSchema: z.object({ turn: z.number() }),
      execute: async ({ turn }) => `Seen in turn ${turn}.`,
    }),
  },
  memory: new Memory({
    storage: new LibSQLStore({ id: 'outage', url: 'file::memory:?cache=shared' }),
    options: { lastMessages: 100 },
  }),
  ...processors,
})
let turn = 0
for await (const turns of createInterface({ input: process.stdin })) {
  callsMs = []
  for (let left = Number(turns); left > 0; left--) {
    turn += 1
    // More than the adapter leaves between two attempts: each turn tries to reach Heddle.
    nowMs += 6_000
    await agent.generate(`Turn ${turn}`, { memory: { thread, resource: 'team' }, maxSteps: 3 })
  }
  const sorted = callsMs.sort((left, right) => left - right)
  const [medianMs, slowestMs] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
  process.stdout.write(`${JSON.stringify({ turn, calls: sorted.length, medianMs, slowestMs, aways })}\n`)
}
