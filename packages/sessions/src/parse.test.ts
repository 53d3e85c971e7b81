import { limits, PermanentError } from '@heddle/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseSession } from './parse.js'
import { sessionFormats } from './parsed.js'

const user = JSON.stringify({ role: 'user', content: 'Go' })

function faultOf(text: string, format: Parameters<typeof parseSession>[1]['format'] = 'auto') {
  try {
    parseSession(text, { fileName: 'session.jsonl', format })
  } catch (error) {
    if (error instanceof PermanentError) return error.toJSON()
    throw error
  }
  throw new Error('expected the file to be refused')
}

test.each(['', ' \n\n', '\ufeff'])('an empty file is refused: %j', (text) => {
  expect(faultOf(text)).toMatchObject({
    code: 'VALIDATION_ERROR',
    field: 'file',
    detail: 'session.jsonl: file: is empty',
  })
})

test('a broken line is named, with blank lines counted, without its content', () => {
  const fault = faultOf(`${user}\n\n{"role":"user","content":"secret\n`)
  expect(fault).toMatchObject({ code: 'VALIDATION_ERROR', field: 'line 3', received: 'a text of 32 characters' })
  expect(fault.hint).toMatch(/may still be written/)
  expect(JSON.stringify(fault)).not.toContain('secret')
})

test.each(['\n', '\r\n'])('an incomplete last line is left out and counted, the rest is read: %j', (lineBreak) => {
  const text = [user, user, '{"role":"user","cont'].join(lineBreak)
  expect(parseSession(text, { fileName: 'session.jsonl', format: 'auto' })).toMatchObject({
    threads: [{ messages: [{}, {}] }],
    skipped: { 'unfinished last line': 1 },
  })
})

test('only a last line without a line break may be incomplete', () => {
  const half = '{"role":"user","cont'
  expect(faultOf(half)).toMatchObject({ field: 'line 1' })
  expect(faultOf(`${user}\n${half}\n`)).toMatchObject({ field: 'line 2' })
  expect(faultOf(`${user}\n${half}\n  `)).toMatchObject({ field: 'line 2' })
  expect(faultOf(`${user}\n${half}\n${user}`)).toMatchObject({ field: 'line 2' })
  expect(faultOf(`${user}\n${half}\n${half}`)).toMatchObject({ field: 'line 2' })
  expect(faultOf(`${user}\nDear diary,`)).toMatchObject({ field: 'line 2' })
})

test('a first line that is broken is named too', () => {
  expect(faultOf(`{"role":\n${user}`)).toMatchObject({ field: 'line 1' })
  expect(faultOf('Dear diary,\n')).toMatchObject({ field: 'line 1' })
})

test('a truncated document is named by the line of the fault', () => {
  expect(faultOf('[\n  {\n    "role": "user",\n')).toMatchObject({ field: 'line 4' })
  expect(faultOf('{\n  "messages": [\n    {"role" "user"}\n  ]\n}')).toMatchObject({ field: 'line 3' })
})

test('a line that is not an object is refused', () => {
  expect(faultOf(`${user}\n42`)).toMatchObject({ field: 'line 2', received: '42' })
})

test('a file of no known format is described by its keys, never its contents', () => {
  const fault = faultOf('{"speaker":"Ann","text":"secret"}')
  expect(fault).toMatchObject({
    code: 'VALIDATION_ERROR',
    field: 'file',
    received: 'an object with the keys speaker, text',
  })
  expect(fault.hint).toMatch(/claude-code/)
})

test('a file without any message is refused with a list of its records', () => {
  expect(faultOf('{"type":"summary","summary":"x","leafUuid":"l"}').detail).toMatch(
    /no message .*claude-code.*1 summary/,
  )
  expect(faultOf('[{"traj":[]}]').detail).toMatch(/no message/)
})

test('a file of another format than was named is refused with the format that it resembles', () => {
  expect(faultOf(`[${user}]`, 'claude-code').hint).toMatch(/openai/)
})

test('a message that is too long is refused with its own code', () => {
  const long = JSON.stringify({ role: 'user', content: 'x'.repeat(limits.messageCharactersMax + 1) })
  expect(faultOf(`${user}\n${long}`)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', field: 'line 2' })
})

test('blocks beside the text count towards the size of a message', () => {
  const withImage = (data: string) => JSON.stringify({ role: 'user', content: [{ type: 'image', data }] })
  const long = 'x'.repeat(limits.messageCharactersMax - 20)
  expect(faultOf(`${user}\n${withImage(long)}`)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', field: 'line 2' })
  expect(() => parseSession(withImage(long.slice(100)), { fileName: 'session.jsonl', format: 'auto' })).not.toThrow()
})

test('one bad message refuses the whole file and names the field', () => {
  const fault = faultOf(`${user}\n${JSON.stringify({ role: 'user', content: 'Go', sentAt: 'yesterday' })}`)
  expect(fault).toMatchObject({ field: 'line 2', received: '"yesterday"' })
  expect(fault.detail).toMatch(/^session\.jsonl: line 2: sentAt: must be an ISO 8601 time/)
})

test('values nested too deeply are refused', () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
  expect(faultOf(`{"role":"user","content":"Go","metadata":{"a":${deep}}}`)).toMatchObject({ field: 'line 1' })
})

test('any file is read or refused with a typed error', () => {
  const json = fc.jsonValue({ maxDepth: 2 })
  const role = fc.constantFrom('user', 'assistant', 'system', 'tool', 'tool_result', 'function', 'x', null)
  const block = fc.record(
    {
      type: fc.constantFrom('text', 'tool_use', 'tool_result', 'thinking', 'image', 'x'),
      text: json,
      id: fc.constantFrom('a', '', null),
      tool_use_id: fc.constantFrom('a', 1),
      name: fc.constantFrom('n', ''),
      input: json,
      content: json,
    },
    { requiredKeys: ['type'] },
  )
  const message = fc.record(
    {
      role,
      content: fc.oneof(fc.string(), fc.array(block, { maxLength: 4 }), json),
      id: json,
      tool_calls: fc.oneof(json, fc.array(fc.record({ id: fc.constant('a'), function: json }))),
      tool_call_id: fc.constantFrom('a', 1),
      name: fc.constantFrom('n', 2),
      function_call: json,
      usage: json,
      sentAt: fc.constantFrom('2026-02-12T14:30:00Z', 'x'),
    },
    { requiredKeys: ['role'] },
  )
  const record = fc.oneof(
    message,
    fc.record({
      type: fc.constantFrom('user', 'assistant', 'system'),
      uuid: json,
      message,
      isSidechain: fc.boolean(),
    }),
    fc.record({ messages: fc.array(message, { maxLength: 4 }), system: json }),
    fc.record({ history: fc.array(message, { maxLength: 4 }) }),
    fc.dictionary(fc.constantFrom('__proto__', 'role', 'content', 'x'), json),
  )
  const file = fc.oneof(
    fc.array(record, { maxLength: 6 }).map((records) => records.map((entry) => JSON.stringify(entry)).join('\n')),
    fc.oneof(record, fc.array(record, { maxLength: 6 }), json).map((value) => JSON.stringify(value, null, 1)),
    fc.string(),
  )
  fc.assert(
    fc.property(file, fc.constantFrom('auto', ...sessionFormats), (text, format) => {
      try {
        const parsed = parseSession(text, { fileName: 'f', format })
        for (const { messages } of parsed.threads) {
          expect(new Set(messages.map(({ identity }) => identity)).size).toBe(messages.length)
        }
      } catch (error) {
        expect(error).toBeInstanceOf(PermanentError)
      }
    }),
    { numRuns: 1_000 },
  )
})
