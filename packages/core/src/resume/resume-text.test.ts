import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Message, RESUME_CHARACTERS_MAX, resumeText, resumeTextInSteps } from '../index.js'

const blank = {
  thinking: [],
  toolCalls: [],
  toolCallId: null,
  toolName: null,
  isError: false,
  ordinal: 0,
  model: null,
  usage: null,
  pinned: false,
  keptAside: null,
  contextId: null,
  tokens: 1,
  reasoningTokens: 0,
  tokensExact: true,
} as const

const conversation = (given: readonly Partial<Message>[]): Message[] =>
  given.map((fields, index) => ({
    ...blank,
    id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    seq: index + 1,
    code: `code${String(index).padStart(4, '0')}`,
    role: 'user',
    content: '',
    orderedAtMs: index,
    ...fields,
  }))

const call = (id: string, name: string, args: object, result: string): Partial<Message>[] => [
  { role: 'tool_use', toolCalls: [{ id, name, arguments: args as never }] },
  { role: 'tool_result', toolCallId: id, toolName: name, content: result },
]

test('constraints, requests word for word, open tasks and files come in this order, each with references', () => {
  const text = resumeText(
    conversation([
      { content: 'Use tabs.', pinned: true },
      { content: 'Never push to main. Fix   the parser!' },
      ...call('1', 'Read', { file_path: '/repo/src/parser.ts' }, 'source'),
      ...call('2', 'Edit', { file_path: '/repo/src/parser.ts', old_string: 'a', new_string: 'b' }, 'done'),
      ...call('3', 'TaskCreate', { subject: 'Add tests' }, 'Task #1 created'),
      ...call('4', 'TaskCreate', { subject: 'Fix it' }, 'Task #2 created'),
      ...call('5', 'TaskUpdate', { taskId: '2', status: 'completed' }, 'ok'),
      { role: 'assistant', content: 'Tests come next.' },
    ]),
  )
  expect(text.split('\n\n## ').slice(1, 5)).toEqual([
    'Standing constraints\n- Use tabs. [recall:msg-code0000]\n- Never push to main. [recall:msg-code0001]',
    'Last requests, word for word, oldest first\n- Use tabs. [recall:msg-code0000]\n- Never push to main. Fix   the parser! [recall:msg-code0001]',
    'Next steps\n- To do: Add tests\n- The assistant said last: Tests come next.',
    'Files, last used first\n- /repo/src/parser.ts: edited once (msg-code0004), read once (msg-code0003)',
  ])
})

test('a session in which nothing was said has no text', () => {
  expect(resumeText([])).toBe('')
})

test('the newest requests are kept where not all of them fit', () => {
  const requests = Array.from({ length: 60 }, (_, index) => ({ content: `Request ${index} ${'about it '.repeat(20)}` }))
  const text = resumeText(conversation(requests))
  expect(text).toContain('- Request 59 about')
  expect(text.indexOf('- Request 58')).toBeLessThan(text.indexOf('- Request 59'))
})

const anySession = () => {
  const words = fc.string({ unit: 'grapheme', maxLength: 3_000 })
  const message = fc.oneof(
    words.map((content): Partial<Message>[] => [{ content }]),
    fc
      .tuple(words, fc.boolean())
      .map(([content, pinned]): Partial<Message>[] => [{ role: 'assistant', content, pinned }]),
    fc.tuple(fc.uuid(), words, words).map(([id, path, result]) => call(id, 'Read', { file_path: path }, result)),
  )
  return fc.array(message, { maxLength: 30 }).map((parts) => conversation(parts.flat()))
}

test('no conversation gives more than Claude Code accepts, and the same one gives the same text', () => {
  fc.assert(
    fc.property(anySession(), (messages) => {
      const text = resumeText(messages)
      expect(text.length).toBeLessThanOrEqual(RESUME_CHARACTERS_MAX)
      expect(resumeText(messages)).toBe(text)
    }),
    { numRuns: 30 },
  )
})

test('texts that are made in steps, others in between, are those that are made at once', () => {
  fc.assert(
    fc.property(fc.array(anySession(), { minLength: 1, maxLength: 3 }), (sessions) => {
      const texts = new Map<number, string>()
      const making = sessions.map((messages) => resumeTextInSteps(messages))
      while (texts.size < making.length) {
        for (const [index, steps] of making.entries()) {
          const step = steps.next()
          if (step.done && step.value !== undefined) texts.set(index, step.value)
        }
      }
      expect(sessions.map((_, index) => texts.get(index))).toEqual(sessions.map((messages) => resumeText(messages)))
    }),
    { numRuns: 20 },
  )
})

test('a text of many messages yields at least once for each of them', () => {
  const messages = conversation(Array.from({ length: 100 }, (_, index) => ({ content: `Request ${index}` })))
  let pauses = 0
  for (const _ of resumeTextInSteps(messages)) pauses++
  expect(pauses).toBeGreaterThan(messages.length)
})
