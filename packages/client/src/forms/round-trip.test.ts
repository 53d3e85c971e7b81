import { type NeutralMessage, render } from '@heddle/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { validateContext } from '../../../../test/support/src/validators/index.js'
import { readAppend } from '../calls/append-input.js'
import { formNames } from './index.js'

const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('', ' ', 'done.', 'a\n\nb', '<system-note>', '\ud83d'),
)
const thinking = fc.array(fc.record({ text: texts, signature: fc.string() }), { maxLength: 2 })
const plain = fc.record({ role: fc.constantFrom('system', 'user', 'assistant'), content: texts, thinking })
const calling = fc.record({
  content: texts,
  thinking,
  calls: fc.array(fc.record({ name: fc.constantFrom('Read', 'mcp__a_b'), result: texts, isError: fc.boolean() }), {
    minLength: 1,
    maxLength: 3,
  }),
})

/** Lists that are well formed by construction: each group of calls is followed by its results. */
const conversations = fc.array(fc.oneof(plain, calling), { maxLength: 10 }).map((parts) =>
  parts.flatMap((part, index): NeutralMessage[] => {
    if (!('calls' in part))
      return [{ ...part, thinking: part.role === 'assistant' ? part.thinking : [] } as NeutralMessage]
    const { content, calls } = part
    const called = calls.map((call, at) => ({ ...call, id: `call_${index}_${at}` }))
    const toolCalls = called.map(({ id, name }) => ({ id, name, arguments: { at: id } }))
    const results = called.map(({ id, name, result, isError }) => {
      return { role: 'tool_result' as const, content: result, toolCallId: id, toolName: name, isError }
    })
    return [{ role: 'assistant', content, thinking: part.thinking, toolCalls }, ...results]
  }),
)

test.each(formNames)(
  'the context delivered in %s has the same contents after it is appended and built again',
  (format) => {
    fc.assert(
      fc.property(conversations, (conversation) => {
        const delivered = render(format, conversation)
        const { messages } = readAppend({ agent: 'a', thread: 't', format, messages: delivered.messages })
        const again = render(format, messages.map(({ parts: _, ...message }) => message) as readonly NeutralMessage[])
        expect(validateContext({ format, ...again })).toEqual([])
        expect(joined(again.messages)).toEqual(joined(delivered.messages))
      }),
      { numRuns: 400 },
    )
  },
)

/** Several texts in a turn become one message's text. */
function joined(messages: readonly Record<string, unknown>[]): unknown[] {
  return messages.map(({ content, ...message }) => {
    const blocks: { type?: unknown; text?: unknown }[] = Array.isArray(content)
      ? content
      : [{ type: 'text', text: content }]
    const texts = blocks.flatMap(({ type, text }) => (type === 'text' ? [text] : []))
    return { ...message, text: texts.join('\n\n'), blocks: blocks.filter(({ type }) => type !== 'text') }
  })
}
