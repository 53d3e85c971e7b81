import fc from 'fast-check'
import { expect, test } from 'vitest'
import { codexOutput, NO_CHANGE, outputStub, readCodexEvent } from './index.js'

test('a text of any characters has at most 10,000 bytes, in whole lines from its beginning', () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 400 }).map((text) => text.replace(/\n/g, ''))
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 60 }), (lines) => {
      const text = `begin\n${lines.join('\n')}`
      const shown = codexOutput({ ...NO_CHANGE, text }).hookSpecificOutput?.additionalContext ?? ''
      expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(10_000)
      expect(`${text}\n`.startsWith(`${shown}\n`)).toBe(true)
      if (Buffer.byteLength(text) <= 10_000) expect(shown).toBe(text)
    }),
  )
  const wide = Array.from({ length: 200 }, () => '€'.repeat(50)).join('\n')
  const shown = codexOutput({ ...NO_CHANGE, text: wide }).hookSpecificOutput?.additionalContext ?? ''
  expect(shown.split('\n')).toHaveLength(66)
})

test('texts are replaced; images, failed results and texts that were recalled stay', () => {
  const called = { hook_event_name: 'PostToolUse' as const, session_id: 's', tool_use_id: 'call_1', tool_input: {} }
  const read = (tool_name: string, tool_response: unknown) => readCodexEvent({ ...called, tool_name, tool_response })
  expect(read('Bash', 'done')).toMatchObject({ type: 'called', text: 'done', replaceable: { text: 'done' } })
  const text = { type: 'text', text: 'a' }
  expect(read('mcp__github__issue', { content: [text] })).toMatchObject({ text: 'a', replaceable: { text: 'a' } })
  expect(read('mcp__github__issue', { content: [text, { type: 'image', data: '' }] })).toMatchObject({
    text: 'a',
    replaceable: null,
  })
  expect(read('mcp__github__issue', { content: [text], isError: true })).toMatchObject({
    isError: true,
    replaceable: null,
  })
  expect(read('mcp__heddle__recall', { content: [text] })).toMatchObject({ type: 'noted' })
})

test('a stub has its reference within the bytes that Codex shows', () => {
  const called = { hook_event_name: 'PostToolUse' as const, session_id: 's', tool_use_id: 'call_1', tool_input: {} }
  const tool_response = '日本語のログの行です。\n'.repeat(5_000)
  const event = readCodexEvent({ ...called, tool_name: 'Bash', tool_response })
  if (event.type !== 'called' || event.replaceable === null) throw new Error('not replaceable')
  const options = { reference: 'msg-1', tokensBefore: 60_000 }
  for (const tokensMax of [1_000, 20_000]) {
    const stub = outputStub(event.replaceable, { ...options, tokensMax })
    expect(Buffer.byteLength(stub)).toBeLessThanOrEqual(9_500)
    expect(Buffer.byteLength(stub)).toBeGreaterThan(7_000)
    expect(stub).toContain('[recall:msg-1]')
  }
})
