import { heddleProcessors, heddleTools } from '@heddle/mastra'
import { Agent } from '@mastra/core/agent'

const url = process.env['OPENAI_BASE_URL'] ?? ''
const apiKey = process.env['OPENAI_API_KEY'] ?? 'none'
const options = { agent: 'coder', budget: 32_000, url: process.env['HEDDLE_URL'] }
const agent = new Agent({
  id: 'coder',
  name: 'Coder',
  instructions: 'Fix the code.',
  model: { id: 'provider/model', url, apiKey },
  tools: heddleTools(options),
  ...heddleProcessors(options),
})

// The thread of Heddle is that of the run. Without a memory of Mastra, the new messages are enough.
const memory = { thread: 'fix-login-mastra', resource: 'team' }
const { text } = await agent.generate('The login fails.', { memory })
process.stdout.write(`${JSON.stringify({ text })}\n`)
