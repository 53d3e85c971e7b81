import { heddleMiddleware, heddleTools } from '@heddle/langchain'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent } from 'langchain'

const configuration = { baseURL: process.env['OPENAI_BASE_URL'] ?? '' }
const apiKey = process.env['OPENAI_API_KEY'] ?? 'none'
const options = { agent: 'coder', budget: 32_000, url: process.env['HEDDLE_URL'] }
const agent = createAgent({
  model: new ChatOpenAI({ model: 'model', apiKey, configuration }),
  tools: [...heddleTools(options)],
  middleware: [heddleMiddleware(options)],
})

// The thread of Heddle is that of the run. Without a checkpointer, the new messages are enough.
const { messages } = await agent.invoke(
  { messages: [{ role: 'user', content: 'The login fails.' }] },
  { configurable: { thread_id: 'fix-login-langchain' } },
)
process.stdout.write(`${JSON.stringify({ text: messages.at(-1)?.text })}\n`)
