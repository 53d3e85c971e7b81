import { HeddleSession } from '@heddle/openai-agents'
import { Agent, MemorySession, OpenAIProvider, Runner, tool } from '@openai/agents'
import { z } from 'zod'
import { lineOf } from './loop-line.js'

/** An agent of the OpenAI Agents SDK that runs turns from a number on, and prints each; it is killed from outside. */
const { HEDDLE_URL: url, PROVIDER_URL: baseURL = '', THREAD: sessionId = '', FIRST = '1', LAST = '1' } = process.env
const budget = Number(process.env['BUDGET'])
const session = url === undefined ? new MemorySession() : new HeddleSession({ agent: 'long', sessionId, url, budget })
const modelProvider = new OpenAIProvider({ baseURL, apiKey: 'none', useResponses: false })
const runner = new Runner({ modelProvider, tracingDisabled: true })
const look = tool({
  name: 'look',
  description: 'Looks.',
  parameters: z.object({ turn: z.number() }),
  execute: ({ turn }) => lineOf(turn),
})
const agent = new Agent({ name: 'Long', model: 'scripted', instructions: 'Look each time.', tools: [look] })
for (let turn = Number(FIRST); turn <= Number(LAST); turn++) {
  const result = await runner.run(agent, `Turn ${turn}`, { session, stream: true })
  await result.completed
  process.stdout.write(`turn ${turn} done\n`)
}
