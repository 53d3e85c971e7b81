import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { heddleMiddleware, heddleTools } from '@heddle/ai-sdk'
import { stepCountIs, streamText, wrapLanguageModel } from 'ai'

const provider = createOpenAICompatible({ name: 'provider', baseURL: process.env['OPENAI_BASE_URL'] ?? '' })
const options = { agent: 'coder', thread: 'fix-login', budget: 32_000, url: process.env['HEDDLE_URL'] }
const model = wrapLanguageModel({ model: provider('model'), middleware: heddleMiddleware(options) })

// The whole history, or only what is new: both are stored once.
const { text } = streamText({
  model,
  prompt: 'The login fails.',
  tools: heddleTools(options),
  stopWhen: stepCountIs(5),
})
process.stdout.write(`${JSON.stringify({ text: await text })}\n`)
