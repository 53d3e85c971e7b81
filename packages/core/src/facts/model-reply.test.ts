import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '../conversation/message.js'
import { factPrompt, readFactReply } from './model-reply.js'

const said = (id: string, content: string, role: Message['role'] = 'user') =>
  ({ id, content, role, orderedAtMs: 7, keptAside: null }) as Message

const ids = ['018f0000-0000-7000-8000-000000000001', '018f0000-0000-7000-8000-000000000002'] as const
const messages = [
  said(ids[0], 'I live in Turin now.'),
  said('018f0000-0000-7000-8000-000000000003', 'I live in Oslo.', 'assistant'),
  said(ids[1], 'The build takes 4 min, and   the deploy 9 min.'),
]
const prompt = factPrompt(messages) ?? { system: '', user: '', messages: [] }
const names = { threadId: '018f0000-0000-7000-8000-00000000000a', extractor: 'model-1 test' }
const fact = {
  message: 1,
  subject: 'user',
  predicate: 'lives in',
  object: 'Turin',
  kind: 'profile',
  single: true,
  quote: 'I live in Turin',
}
const read = (...facts: readonly object[]) => readFactReply(JSON.stringify({ facts }), prompt, names)

test('the prompt has the words of people alone, without secrets and what was recalled', () => {
  const secret = `ghp_${'a1B2c3'.repeat(6)}`
  const asked = factPrompt([
    ...messages,
    said('a', `I use the token ${secret} for the loom.`),
    said('b', '<memory ref="msg-1a2b3c4d">\nI live in Rome.\n</memory>'),
  ])
  expect(JSON.parse(asked?.user ?? '')).toMatchObject([{ message: 1 }, { message: 2 }, { message: 3 }])
  for (const absent of ['Oslo', 'Rome', secret]) expect(asked?.user).not.toContain(absent)
  expect(factPrompt([said('a', 'ok'), said('b', 'I live in Oslo.', 'assistant')])).toBeNull()
})

test('a fact of a reply has its message, its quote and the same id each time', () => {
  const [one, ...more] = read(fact, fact) ?? []
  expect(more).toEqual([])
  expect(one).toMatchObject({
    object: 'Turin',
    kind: 'profile',
    isSingle: true,
    isNegated: false,
    statement: 'I live in Turin',
    validFromMs: 7,
    sources: [ids[0]],
  })
  expect(read(fact)).toEqual([one])
  const reply = `<think>…</think> Here it is:\n\`\`\`json\n${JSON.stringify({ facts: [fact] })}\n\`\`\``
  expect(readFactReply(reply, prompt, names)).toEqual([one])
})

test.each([
  ['without a quote of its message', { ...fact, quote: 'I live in Bonn' }],
  ['with a quote of another message', { ...fact, message: 2 }],
  ['of a message that is not in the prompt', { ...fact, message: 9 }],
  ['with a secret', { ...fact, subject: 'password', object: 'hunter2secret' }],
  ['without an object', { ...fact, object: '' }],
  ['with an endless subject', { ...fact, subject: 'a'.repeat(201) }],
])('a fact %s is dropped, and the others are kept', (_, wrong) => {
  expect(read(wrong, fact)).toHaveLength(1)
})

test('white space in a quote does not matter, and a message has at most 40 facts', () => {
  const other = { ...fact, message: 2, quote: 'and the deploy 9 min' }
  expect(read(other)).toHaveLength(1)
  const many = Array.from({ length: 60 }, (_, index) => ({ ...other, object: `${index} min` }))
  expect(read(...many)).toHaveLength(40)
})

test('any other reply is unusable, and never an error', () => {
  for (const reply of ['', 'NONE', '{"facts":1}', '{"facts":[', '[]', '{}'])
    expect(readFactReply(reply, prompt, names)).toBeNull()
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.array(fc.jsonValue()).map((facts) => JSON.stringify({ facts })),
      ),
      (reply) => {
        expect(readFactReply(reply, prompt, names) ?? []).toEqual([])
      },
    ),
  )
})
