import Anthropic from '@anthropic-ai/sdk'

// An agent that knows nothing of Heddle: its package reads ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY.
const anthropic = new Anthropic()
const request = { model: 'claude-sonnet-4-5', max_tokens: 100 }
const stream = anthropic.messages.stream({ ...request, messages: [{ role: 'user', content: 'The login fails.' }] })
const { content } = await stream.finalMessage()
process.stdout.write(`${JSON.stringify({ text: content[0]?.type === 'text' ? content[0].text : null })}\n`)
