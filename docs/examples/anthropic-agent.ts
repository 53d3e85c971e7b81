import type Anthropic from '@anthropic-ai/sdk'
import type { RemoteClient } from '@heddle/client/http'

export interface AnthropicAgent {
  readonly heddle: RemoteClient
  readonly anthropic: Anthropic
  readonly model: string
  readonly agent: string
  readonly tools: readonly Anthropic.Tool[]
  runTool(name: string, input: unknown): Promise<string>
}

const STEPS_MAX = 10

/**
 * One turn of an agent on Anthropic's messages. Heddle sets the marks of the prompt cache. Answers are appended as they
 * came: reasoning is stored with its signature and sent back as it was, and what the provider counted goes along.
 */
export async function turn(
  { heddle, anthropic, model, agent, tools, runTool }: AnthropicAgent,
  { thread, text }: { thread: string; text: string },
): Promise<string> {
  await heddle.messages.append({ agent, thread, messages: [{ role: 'user', content: text }] })
  for (let step = 0; step < STEPS_MAX; step++) {
    const context = await heddle.contexts.build({ thread, agent, model, budget: 16_000, format: 'anthropic' })
    const stream = anthropic.messages.stream({
      model,
      max_tokens: 4_096,
      messages: context.messages,
      tools: [...tools],
      ...(context.system !== null && { system: context.system }),
    })
    const reply = await stream.finalMessage()
    await heddle.messages.append({ agent, thread, format: 'anthropic', contextId: context.id, messages: [reply] })
    const calls = reply.content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0)
      return reply.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
    const results = await Promise.all(
      calls.map(async ({ id, name, input }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: await runTool(name, input),
      })),
    )
    const messages = [{ role: 'user' as const, content: results }]
    await heddle.messages.append({ agent, thread, format: 'anthropic', messages })
  }
  throw new Error(`the agent was not done after ${STEPS_MAX} steps`)
}
