import { describe, expect, test } from 'vitest'
import { COMPACTED, compactionReply, expandCompactions } from './compaction-reply.js'

const reply = compactionReply({
  id: 'a1',
  atSeconds: 1_764_967_971,
  thread: 'fix-login',
  text: 'What was done: "everything" — ✓',
  said: [
    { role: 'user', content: 'Fix the login.' },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And the tests.' }] },
  ],
  inputTokens: 5_000,
  outputTokens: 300,
})
const [first, second, item] = reply['output'] as object[]
const bodyOf = (input: unknown) => Buffer.from(JSON.stringify({ model: 'm', input, stream: true }))

describe('a compaction of Heddle', () => {
  test('has the form of the provider: the messages of the user, then one compaction item', () => {
    expect(reply).toMatchObject({ object: 'response.compaction', usage: { total_tokens: 5_300 } })
    expect(reply['output']).toHaveLength(3)
    expect(first).toMatchObject({ type: 'message', role: 'user', content: [{ text: 'Fix the login.' }] })
    expect(second).toMatchObject({ content: [{ text: 'And the tests.' }] })
    expect(item).toMatchObject({
      type: 'compaction',
      encrypted_content: expect.stringMatching(/^heddle-compaction-1\./),
    })
  })

  test('is a message again in a later request, whose other bytes stay', () => {
    const next = { role: 'user', content: 'go on' }
    const { body, thread } = expandCompactions(bodyOf([first, second, item, next]))
    expect(thread).toBe('fix-login')
    const text = `${COMPACTED}\n\nWhat was done: "everything" — ✓`
    const message = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
    expect(body.toString()).toBe(bodyOf([first, second, message, next]).toString())
  })

  test.each([
    ['without one', bodyOf([{ role: 'user', content: 'hello' }])],
    ['with the item of the provider', bodyOf([{ type: 'compaction', encrypted_content: 'gAAAAABpM0Yj' }])],
    ['that quotes one', bodyOf([{ role: 'user', content: 'heddle-compaction-1.e30' }])],
    ['with one that was changed', bodyOf([{ type: 'compaction', encrypted_content: 'heddle-compaction-1.e30' }])],
    ['that is not JSON', Buffer.from('{"input":[{"a":"heddle-compaction-1.e30"')],
    ['with a text as its input', bodyOf('heddle-compaction-1.e30')],
  ])('leaves a request %s as it is', (_, body) => {
    expect(expandCompactions(body)).toEqual({ body, thread: null })
  })
})
