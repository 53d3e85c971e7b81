import type { HeddleProcessor, RequestContext } from '@heddle/mastra'
import type { ScriptedModel } from './scripted-model.js'

type Part = Readonly<Record<string, unknown>>
interface Message {
  readonly role: string
  readonly content: string | readonly Part[]
}

export interface LoopOptions {
  readonly processor: HeddleProcessor
  readonly scripted: ScriptedModel
  readonly thread?: string
  readonly requestContext?: RequestContext
  readonly stepsMax?: number
  readonly tool?: (input: unknown) => unknown
}

/**
 * Calls a processor in the order and with the arguments of an agent of Mastra, whose package does not run on the oldest Node.
 * `npm run verify:install` runs the agent itself.
 *
 * @param messages the message list of the run, which gets its replies and results
 */
export async function runLoop(messages: Message[], options: LoopOptions): Promise<void> {
  const { processor, scripted, thread, requestContext, stepsMax = 5, tool = () => 'seen' } = options
  const { model } = scripted
  const messageList = {
    get: { all: { db: () => messages.map(() => ({ threadId: thread })), aiV5: { model: () => messages } } },
  }
  const state: Record<string, unknown> = {}
  const run = { messageList, requestContext, state }
  for (let step = 0; step < stepsMax; step++) {
    const prompt = [{ role: 'system', content: 'Be kind.' }, ...messages.map(asPrompt)]
    const changed = await processor.processLLMRequest({ ...run, prompt, model })
    const { content } = await model.doGenerate({ prompt: changed?.prompt ?? prompt })
    const reply = (content as Part[]).map(asShown)
    const calls = reply.filter((part) => part['type'] === 'tool-call')
    messages.push({ role: 'assistant', content: reply })
    if (calls.length > 0) messages.push({ role: 'tool', content: [] })
    const usage = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 40 }
    await processor.processOutputStep({ ...run, usage })
    if (calls.length === 0) break
    const results = calls.map(({ toolCallId, toolName, input }: Part) => {
      const output = { type: 'text', value: String(tool(input)) }
      return { type: 'tool-result', toolCallId, toolName, output }
    })
    messages[messages.length - 1] = { role: 'tool', content: results }
  }
  await processor.processOutputResult(run)
}

function asPrompt({ role, content }: Message): Message {
  return { role, content: typeof content === 'string' ? [{ type: 'text', text: content }] : content }
}

/** Calls have their input as text in a reply, and as a value in the message list. */
function asShown(part: Part): Part {
  return part['type'] === 'tool-call' ? { ...part, input: JSON.parse(String(part['input'])) } : part
}
