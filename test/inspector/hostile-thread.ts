import { HOSTILE } from './hostile-text.js'
import { AGENT, type RecordedThread } from './recorded-thread.js'

/** A name of 200 characters that reverses what follows it, and looks like markup. */
export const HOSTILE_NAME = `<svg onload=document.title='ran'>\u202E${'n'.repeat(166)}`
export const HOSTILE_TOOL = `<img src=x onerror=document.title='ran'>\u202E${'t'.repeat(80)}`
/** One line, nearly as long as a message may be. */
export const LONG_LINE = `${HOSTILE} ${'x'.repeat(3_990_000)}`

/** A thread with a hostile name, whose summaries, calls, tool names and results are hostile as well. */
export async function appendHostileThread({ client, settled }: RecordedThread): Promise<void> {
  const settings = { strategy: 'tree', budget: 16_000, tree: { leafTokens: 2_000, fanOut: 4 } }
  await client.threads.put(HOSTILE_NAME, { agent: AGENT, title: 'title', goal: 'goal', settings })
  const turns = Array.from({ length: 40 }, (_, turn) => [
    { role: 'user' as const, content: `${HOSTILE} Decide ${turn}: the port is ${4000 + turn}. ${'words '.repeat(80)}` },
    {
      role: 'assistant' as const,
      content: `I will look, ${turn}. ${HOSTILE}`,
      toolCalls: [{ id: `call-${turn}`, name: HOSTILE_TOOL, arguments: { path: HOSTILE, turn } }],
    },
    {
      role: 'tool_result' as const,
      content: turn === 20 ? LONG_LINE : `${HOSTILE} ${'result '.repeat(300)}`,
      toolCallId: `call-${turn}`,
      toolName: HOSTILE_TOOL,
    },
  ])
  await client.messages.append({ agent: AGENT, thread: HOSTILE_NAME, messages: turns.flat() })
  await settled(HOSTILE_NAME)
}
