import { heddleMiddleware } from '@heddle/langchain'
import { MemorySaver } from '@langchain/langgraph'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent, tool } from 'langchain'
import { z } from 'zod'
import { lineOf } from './loop-line.js'

/** An agent of LangChain that runs turns from a number on, and prints each; it is killed from outside. */
const { HEDDLE_URL: url, PROVIDER_URL: baseURL = '', THREAD = '', FIRST = '1', LAST = '1' } = process.env
const budget = Number(process.env['BUDGET'])
const look = tool(({ turn }) => lineOf(turn), {
  name: 'look',
  description: 'Looks.',
  schema: z.object({ turn: z.number() }),
})
const model = new ChatOpenAI({ model: 'scripted', apiKey: 'none', configuration: { baseURL } })
const memory =
  url === undefined
    ? { checkpointer: new MemorySaver() }
    : { middleware: [heddleMiddleware({ agent: 'long', url, budget })] }
const agent = createAgent({ model, tools: [look], systemPrompt: 'Look each time.', ...memory })
for (let turn = Number(FIRST); turn <= Number(LAST); turn++) {
  const messages = [{ role: 'user' as const, content: `Turn ${turn}` }]
  await agent.invoke({ messages }, { configurable: { thread_id: THREAD } })
  process.stdout.write(`turn ${turn} done\n`)
}
