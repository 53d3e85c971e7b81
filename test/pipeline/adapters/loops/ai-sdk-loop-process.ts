import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { heddleMiddleware } from '@heddle/ai-sdk'
import { generateText, type LanguageModel, type ModelMessage, stepCountIs, type ToolSet, wrapLanguageModel } from 'ai'
import { z } from 'zod'
import { lineOf } from './loop-line.js'

/** An agent of the AI SDK that runs turns from a number on, and prints each; it is killed from outside. */
const { HEDDLE_URL: url, PROVIDER_URL: baseURL = '', THREAD: thread = '', FIRST = '1', LAST = '1' } = process.env
const budget = Number(process.env['BUDGET'])
const scripted = createOpenAICompatible({ name: 'scripted', baseURL })('scripted')
const middleware = heddleMiddleware({ agent: 'long', thread, budget, ...(url !== undefined && { url }) })
const model: LanguageModel = url === undefined ? scripted : wrapLanguageModel({ model: scripted, middleware })
const tools: ToolSet = {
  look: {
    description: 'Looks.',
    inputSchema: z.object({ turn: z.number() }),
    execute: async ({ turn }: { turn: number }) => lineOf(turn),
  },
}
const all: ModelMessage[] = []
for (let turn = Number(FIRST); turn <= Number(LAST); turn++) {
  const asked: ModelMessage = { role: 'user', content: `Turn ${turn}` }
  all.push(asked)
  // Heddle has the others.
  const messages = url === undefined ? all : [asked]
  const stopWhen = stepCountIs(3)
  const result = await generateText({ model, system: 'Look each time.', messages, tools, stopWhen })
  // In version 7 the messages of all steps, where the response has those of the last one.
  const { responseMessages = result.response.messages } = result as { responseMessages?: ModelMessage[] }
  all.push(...responseMessages)
  process.stdout.write(`turn ${turn} done\n`)
}
