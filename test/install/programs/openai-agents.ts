import { HeddleSession } from '@heddle/openai-agents'
import { Agent, OpenAIProvider, Runner } from '@openai/agents'

const baseURL = process.env['OPENAI_BASE_URL'] ?? ''
const modelProvider = new OpenAIProvider({
  baseURL,
  apiKey: process.env['OPENAI_API_KEY'] ?? 'none',
  useResponses: false,
})
const runner = new Runner({ modelProvider, tracingDisabled: true })
const session = new HeddleSession({
  agent: 'coder',
  sessionId: `fix-login-${Date.now()}`,
  budget: 32_000,
  url: process.env['HEDDLE_URL'],
})

// Each run gets the history within the budget, and stores what is new.
const agent = new Agent({ name: 'Coder', model: 'model', instructions: 'Fix the code.' })
const result = await runner.run(agent, 'The login fails.', { session, stream: true })
await result.completed
const items = await session.getItems()
process.stdout.write(`${JSON.stringify({ text: result.finalOutput, items: items.length })}\n`)
