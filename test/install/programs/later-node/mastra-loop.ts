import { heddleProcessors } from '@heddle/mastra'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { LibSQLStore } from '@mastra/libsql'
import { Memory } from '@mastra/memory'
import { z } from 'zod'
import { lineOf } from './loop-line.js'

/** An agent of Mastra that runs turns from a number on, and prints each; it is killed from outside. */
const { HEDDLE_URL, PROVIDER_URL: url = '', THREAD: thread = '', FIRST = '1', LAST = '1', MEMORY = '' } = process.env
const budget = Number(process.env['BUDGET'])
const modelAt = (id: `${string}/${string}`) => ({ id, url, apiKey: 'none' })

/** Mastra's own memory: some of the last messages, or its observations, with as many tokens as the budget. */
function memoryOf(name: string) {
  const storage = new LibSQLStore({ id: 'loop', url: 'file::memory:?cache=shared' })
  if (name !== 'observational') return new Memory({ storage, options: { lastMessages: Number(name) } })
  const half = budget / 2
  const observationalMemory = {
    model: modelAt('provider/observer'),
    observation: { messageTokens: half },
    reflection: { observationTokens: half },
  }
  return new Memory({ storage, options: { observationalMemory } })
}

const look = createTool({
  id: 'look',
  description: 'Looks.',
  inputSchema: z.object({ turn: z.number() }),
  execute: async ({ turn }) => lineOf(turn),
})
const agent = new Agent({
  id: 'long',
  name: 'Long',
  instructions: 'Look each time.',
  model: modelAt('provider/scripted'),
  tools: { look },
  ...(HEDDLE_URL === undefined
    ? { memory: memoryOf(MEMORY) }
    : heddleProcessors({ agent: 'long', budget, url: HEDDLE_URL })),
})
for (let turn = Number(FIRST); turn <= Number(LAST); turn++) {
  await agent.generate(`Turn ${turn}`, { memory: { thread, resource: 'team' }, maxSteps: 3 })
  process.stdout.write(`turn ${turn} done\n`)
}
