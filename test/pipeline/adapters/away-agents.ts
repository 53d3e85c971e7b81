import { heddleMiddleware as aiSdkMiddleware } from '@heddle/ai-sdk'
import { heddleMiddleware as langchainMiddleware } from '@heddle/langchain'
import { heddleProcessors } from '@heddle/mastra'
import { HeddleSession } from '@heddle/openai-agents'
import { HumanMessage } from '@langchain/core/messages'
import { MemorySaver } from '@langchain/langgraph'
import { Agent, type Model, run, setTracingDisabled, Usage } from '@openai/agents'
import { generateText, type ModelMessage, wrapLanguageModel } from 'ai'
import { createAgent } from 'langchain'
import { runLoop } from './mastra-loop.js'
import { ScriptedChat, says } from './scripted-chat.js'
import { scriptedModel } from './scripted-model.js'

/*
 * An agent on each framework with the adapter for it, whose model replies at once: what a turn takes is the time of the framework
 * and of the adapter. `npm run eval -- --only adapters.away` imports this file.
 */

export interface AwayOptions {
  readonly agent: string
  readonly url: string
  readonly now: () => number
  readonly onAway: (error: unknown) => void
}

/** One turn of an agent: it says something, and the model replies. */
export type Turn = (content: string) => Promise<unknown>

const thread = (options: AwayOptions) => `${options.agent}-away`

function aiSdk(options: AwayOptions): Turn {
  const { model } = scriptedModel('v2', (_, count) => ({ text: `Reply ${count}` }))
  const middleware = aiSdkMiddleware({ ...options, thread: thread(options) })
  const wrapped = wrapLanguageModel({ model, middleware })
  const said: ModelMessage[] = []
  return async (content) => {
    said.push({ role: 'user', content })
    const { response } = await generateText({ model: wrapped, messages: said })
    said.push(...response.messages)
  }
}

function openAiAgents(options: AwayOptions): Turn {
  setTracingDisabled(true)
  const session = new HeddleSession({ ...options, sessionId: thread(options) })
  const content = [{ type: 'output_text' as const, text: 'A reply.' }]
  const model: Model = {
    getResponse: async () => ({
      usage: new Usage(),
      output: [{ type: 'message', role: 'assistant', status: 'completed', content }],
    }),
    // biome-ignore lint/correctness/useYield: no turn streams.
    async *getStreamedResponse() {
      throw new Error('not scripted')
    },
  }
  const agent = new Agent({ name: 'Steady', model })
  return (said) => run(agent, said, { session })
}

function langchain(options: AwayOptions): Turn {
  const model = new ScriptedChat((_, count) => says(`Reply ${count}`))
  const agent = createAgent({
    model,
    tools: [],
    checkpointer: new MemorySaver(),
    middleware: [langchainMiddleware(options)],
  })
  const configurable = { thread_id: thread(options) }
  return (content) => agent.invoke({ messages: [new HumanMessage(content)] }, { configurable })
}

function mastra(options: AwayOptions): Turn {
  const scripted = scriptedModel('v2', (_, count) => ({ text: `Reply ${count}` }))
  const [processor] = heddleProcessors(options).inputProcessors
  const list: Parameters<typeof runLoop>[0] = []
  return async (content) => {
    list.push({ role: 'user', content })
    await runLoop(list, { processor, scripted, thread: thread(options) })
  }
}

export const awayAgents: Readonly<Record<string, (options: AwayOptions) => Turn>> = {
  'ai-sdk': aiSdk,
  'openai-agents': openAiAgents,
  langchain,
  mastra,
}
