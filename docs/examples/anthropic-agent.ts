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
 * One turn of an agent on Anthropic's messages. Heddle sets the marks of the prompt cache; reasoning is stored with its
 * signature, and sent back as it was.
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
    const { content, usage } = await stream.finalMessage()
    const calls = content.filter((block) => block.type === 'tool_use')
    const said = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
    const thinking = content.flatMap((block) =>
      block.type === 'thinking' ? [{ text: block.thinking, signature: block.signature }] : [],
    )
    await heddle.messages.append({
      agent,
      thread,
      messages: [
        {
          role: 'assistant',
          content: said,
          model,
          contextId: context.id,
          usage: countsOf(usage),
          ...(thinking.length > 0 && { thinking }),
          ...(calls.length > 0 && {
            toolCalls: calls.map(({ id, name, input }) => ({ id, name, arguments: JSON.stringify(input) })),
          }),
        },
      ],
    })
    if (calls.length === 0) return said
    const results = await Promise.all(
      calls.map(async ({ id, name, input }) => ({
        role: 'tool_result' as const,
        toolCallId: id,
        toolName: name,
        content: await runTool(name, input),
      })),
    )
    await heddle.messages.append({ agent, thread, messages: results })
  }
  throw new Error(`the agent was not done after ${STEPS_MAX} steps`)
}

/** What the provider counted: Heddle takes it for the size of the thread, before its own count. */
function countsOf(usage: Anthropic.Usage) {
  const { input_tokens, cache_read_input_tokens: read, cache_creation_input_tokens: written, output_tokens } = usage
  return { input_tokens, output_tokens, cache_read_input_tokens: read ?? 0, cache_creation_input_tokens: written ?? 0 }
}
