import type { RemoteClient } from '@heddle/client/http'
import type OpenAI from 'openai'

/** A tool of the agent: its definition for the model, and its function. */
export interface AgentTool {
  readonly definition: OpenAI.ChatCompletionFunctionTool
  run(input: Record<string, unknown>): Promise<string>
}

export interface OpenAiAgent {
  readonly heddle: RemoteClient
  readonly openai: OpenAI
  readonly model: string
  readonly agent: string
  readonly tools: Readonly<Record<string, AgentTool>>
}

const STEPS_MAX = 10

/**
 * One turn of an agent on OpenAI's chat completions: Heddle stores the thread, and each step requests a context that fits
 * the budget. The user's message is appended first, so nothing is lost if the model fails. Replies are appended unchanged,
 * with the provider's token counts, and results in the provider's format.
 */
export async function turn(
  { heddle, openai, model, agent, tools }: OpenAiAgent,
  { thread, text }: { thread: string; text: string },
): Promise<string> {
  await heddle.messages.append({ agent, thread, messages: [{ role: 'user', content: text }] })
  for (let step = 0; step < STEPS_MAX; step++) {
    const context = await heddle.contexts.build({ thread, agent, model, budget: 16_000, format: 'openai-chat' })
    const stream = openai.chat.completions.stream({
      model,
      messages: context.messages,
      tools: Object.values(tools).map(({ definition }) => definition),
      stream_options: { include_usage: true },
    })
    const completion = await stream.finalChatCompletion()
    await heddle.messages.append({
      agent,
      thread,
      format: 'openai-chat',
      contextId: context.id,
      messages: [completion],
    })
    const reply = completion.choices[0]?.message
    const calls = (reply?.tool_calls ?? []).filter((call) => call.type === 'function')
    if (calls.length === 0) return reply?.content ?? ''
    const results = await Promise.all(calls.map((call) => runCall(tools, call)))
    await heddle.messages.append({ agent, thread, format: 'openai-chat', messages: results })
  }
  throw new Error(`the agent was not done after ${STEPS_MAX} steps`)
}

/** The error of a failing tool goes to the model, which may try another way. */
async function runCall(tools: OpenAiAgent['tools'], call: OpenAI.ChatCompletionMessageFunctionToolCall) {
  const { name, arguments: given } = call.function
  const result = { role: 'tool' as const, tool_call_id: call.id }
  try {
    const tool = tools[name]
    if (tool === undefined) throw new Error(`there is no tool ${name}`)
    return { ...result, content: await tool.run(JSON.parse(given)) }
  } catch (error) {
    return { ...result, content: String(error) }
  }
}
