import { defaultSettings, type ToolCall } from '@heddle/contracts'
import { decidePrunings, type Message, type PruneInput, pairToolCalls } from '@heddle/core'
import { sampleMessage } from './conversations.js'

/** The result of a view of a file of sixty lines. */
export const FILE = Array.from({ length: 60 }, (_, index) => `${index + 1}\tconst value${index} = ${index}`).join('\n')

/** A conversation in explicit steps; `filler` adds messages so that earlier ones are old. */
export function conversation() {
  const messages: Message[] = []
  const add = (message: Partial<Message>): Message => {
    const seq = messages.length + 1
    const added = sampleMessage({
      seq,
      id: `m${seq}`,
      code: `code${String(seq).padStart(4, '0')}`,
      content: '',
      tokens: 10,
      ...message,
    })
    messages.push(added)
    return added
  }
  let calls = 0
  const tool = (
    name: string,
    args: ToolCall['arguments'],
    content: string,
    more: { call?: Partial<Message>; result?: Partial<Message> } = {},
  ) => {
    const id = `call-${++calls}`
    const call = add({ role: 'assistant', toolCalls: [{ id, name, arguments: args }], ...more.call })
    const result = add({ role: 'tool_result', toolCallId: id, toolName: name, content, ...more.result })
    return { call, result }
  }
  const filler = (count: number) => {
    for (let index = 0; index < count; index++) add({ role: index % 2 === 0 ? 'user' : 'assistant', content: 'yes' })
  }
  return { messages, add, tool, filler }
}

export function decide(messages: readonly Message[], more: Partial<PruneInput> = {}) {
  return decidePrunings({
    messages,
    pairs: pairToolCalls(messages),
    settings: defaultSettings.prune,
    alreadyPruned: new Set(),
    reference: (message) => `msg-${message.code}`,
    ...more,
  })
}
