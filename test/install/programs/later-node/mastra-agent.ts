import { createClient } from '@heddle/client/http'
import { heddleProcessors, heddleTools } from '@heddle/mastra'
import { Agent } from '@mastra/core/agent'
import { MockMemory } from '@mastra/core/memory'
import { createTool } from '@mastra/core/tools'
import { z } from 'zod'

/*
 * Runs of an agent of Mastra with tools, streamed and whole, with a memory of Mastra and without, and prints the thread of
 * each. The model is scripted by the server: it calls `look` and ends with a text.
 */

const heddleUrl = process.env['HEDDLE_URL'] ?? ''
const url = process.env['OPENAI_BASE_URL'] ?? ''
const options = { agent: 'mastra', budget: 4_000, url: heddleUrl }
const look = createTool({
  id: 'look',
  description: 'Looks.',
  inputSchema: z.object({ at: z.number() }),
  execute: async ({ at }) => `${at}: ${'line '.repeat(150)}`,
})
const agentWith = (memory: { memory?: MockMemory }) =>
  new Agent({
    id: 'mastra',
    name: 'Mastra',
    instructions: 'Be kind.',
    model: { id: 'provider/model', url, apiKey: 'none' },
    tools: { look, ...heddleTools(options) },
    ...heddleProcessors(options),
    ...memory,
  })

const client = createClient({ url: heddleUrl })
const threads: Record<string, { roles: string[]; usages: number; contexts: number; models: string[] }> = {}
for (const [thread, memory] of [
  ['with-memory', { memory: new MockMemory() }],
  ['alone', {}],
] as const) {
  const agent = agentWith(memory)
  const run = { memory: { thread, resource: 'team' }, maxSteps: 20 }
  await agent.generate('One.', run)
  const streamed = await agent.stream('Two.', run)
  await streamed.consumeStream()
  // Another process goes on.
  await agentWith(memory).generate('Three.', run)
  const { items } = await client.messages.list({ thread, limit: 500, order: 'asc' })
  const replies = items.filter(({ role }) => role === 'assistant')
  threads[thread] = {
    roles: items.map(({ role }) => role),
    usages: replies.filter(({ usage }) => usage !== undefined).length,
    contexts: replies.filter(({ contextId }) => contextId !== undefined).length,
    models: [...new Set(replies.map(({ model }) => model ?? ''))],
  }
}
process.stdout.write(`${JSON.stringify(threads)}\n`)
