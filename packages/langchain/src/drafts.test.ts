import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { expect, test } from 'vitest'
import { assembledMessages, splitInstructions } from './assembled.js'
import { draftOf } from './drafts.js'
import { budgetBeside } from './overhead.js'
import { usageOf } from './usage.js'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

test('calls are not repeated in the text of a reply, and reasoning keeps its signature', () => {
  const message = new AIMessage({
    id: 'm',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 's' },
      { type: 'text', text: 'Looking.' },
      { type: 'tool_use', id: 'c', name: 'look', input: { at: 1 } },
    ],
    tool_calls: [{ id: 'c', name: 'look', args: { at: 1 }, type: 'tool_call' }],
  })
  expect(draftOf(message)).toEqual({
    role: 'assistant',
    content: 'Looking.',
    sourceId: 'm',
    thinking: [{ text: 'Hm.', signature: 's' }],
    toolCalls: [{ id: 'c', name: 'look', arguments: { at: 1 } }],
  })
})

test('images of either version of LangChain are parts', () => {
  for (const image of [
    { type: 'image', data: PIXEL, mimeType: 'image/png' },
    { type: 'image', source_type: 'base64', data: PIXEL, mime_type: 'image/png' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
  ]) {
    const draft = draftOf(new HumanMessage({ content: [{ type: 'text', text: 'See.' }, image] }))
    expect(draft?.parts).toMatchObject([{ type: 'image', mediaType: 'image/png', data: PIXEL }])
  }
})

test('the summary of another middleware is not a message of the user', () => {
  expect(draftOf(new HumanMessage({ content: 'So far', additional_kwargs: { lc_source: 'summarization' } }))).toBeNull()
})

test('usage counts what was not in a cache, and needs no field that is zero', () => {
  expect(usageOf({ input_tokens: 100, input_token_details: { cache_read: 60, cache_creation: 10 } })).toEqual({
    inputTokens: 30,
    cacheReadTokens: 60,
    cacheWriteTokens: 10,
    outputTokens: 0,
  })
  expect(usageOf({})).toBeUndefined()
})

test('the newest of equal messages is the one that a context shows, and others are made from what they say', () => {
  const given = [new HumanMessage({ id: '1', content: 'Go on.' }), new HumanMessage({ id: '2', content: 'Go on.' })]
  const [same, short] = assembledMessages(
    [
      { role: 'user', content: 'Go on.' },
      { role: 'tool_result', content: 'short', toolCallId: 'c', toolName: 'look', isError: true },
    ],
    given,
  )
  expect(same).toBe(given[1])
  expect(ToolMessage.isInstance(short) && [short.tool_call_id, short.status, short.name]).toEqual([
    'c',
    'error',
    'look',
  ])
})

test('the instructions of an agent are apart from the summary of a conversation', () => {
  const summary = { role: 'system', content: '[Earlier conversation summary: a tide]' }
  const instructions = { role: 'system', content: 'Be kind.' }
  expect(splitInstructions([instructions, summary])).toEqual({ instructions: ['Be kind.'], conversation: [summary] })
  expect(splitInstructions([instructions])).toEqual({ instructions: ['Be kind.'], conversation: [] })
})

test('instructions and tools leave a quarter of the budget at least', () => {
  const none = new HumanMessage('')
  expect(budgetBeside(1_000, { systemMessage: none, tools: [] })).toBe(1_000)
  expect(budgetBeside(1_000, { systemMessage: new HumanMessage('x'.repeat(300)), tools: [] })).toBe(900)
  expect(budgetBeside(1_000, { systemMessage: none, tools: [{ name: 'x', parameters: 'y'.repeat(9_000) }] })).toBe(250)
})
