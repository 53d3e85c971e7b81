import type { SummarySource } from '@heddle/core'
import type { Block } from './session.js'

/** The messages of a history as the summarizer reads them. */
export function coverSources(history: readonly Block[], referenceOf: (callId: string) => string): SummarySource[] {
  const tools = new Map<string, string>()
  return history.flatMap((message, index) => {
    const source = (fields: Partial<SummarySource>): SummarySource => ({
      reference: '',
      role: message['role'] === 'assistant' ? 'assistant' : 'user',
      text: '',
      toolName: null,
      isError: false,
      pinned: false,
      orderedAtMs: index,
      ...fields,
    })
    const called = (id: unknown, name: unknown, given: unknown): SummarySource => {
      tools.set(String(id), String(name))
      const text = typeof given === 'string' ? given : JSON.stringify(given)
      const calls = [{ id: String(id), name: String(name), arguments: text }]
      return source({ role: 'tool_use', text: `[called ${name} ${text.slice(0, 400)}]`, toolName: String(name), calls })
    }
    const result = (id: unknown, content: unknown, isError: boolean): SummarySource =>
      source({
        reference: referenceOf(String(id)),
        role: 'tool_result',
        text: textOf(content),
        toolName: tools.get(String(id)) ?? null,
        isError,
      })
    if (message['role'] === 'system') return []
    if (message['role'] === 'tool') return [result(message['tool_call_id'], message['content'], false)]
    const calls = (Array.isArray(message['tool_calls']) ? message['tool_calls'] : []) as Block[]
    const blocks: Block[] = Array.isArray(message['content'])
      ? message['content']
      : [{ type: 'text', text: message['content'] ?? '' }]
    return [
      ...blocks.flatMap((block) => {
        if (block['type'] === 'tool_use') return [called(block['id'], block['name'], block['input'])]
        if (block['type'] === 'tool_result')
          return [result(block['tool_use_id'], block['content'], block['is_error'] === true)]
        return block['type'] === 'text' && block['text'] !== '' ? [source({ text: String(block['text']) })] : []
      }),
      ...calls.map(({ id, function: used }) => called(id, (used as Block)['name'], (used as Block)['arguments'])),
    ]
  })
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? (content as Block[]).map(({ text }) => text ?? '').join('\n') : ''
}
