import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeItem, encodeItem } from './template.js'

const none = async () => ''

test('every item of JSON comes back as it was, whatever its fields are called', async () => {
  const keys = fc.constantFrom('$heddle', 'content', 'from', 'type')
  const values = fc.letrec((tie) => ({
    value: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), tie('object'), fc.array(tie('value'))),
    object: fc.dictionary(keys, tie('value')),
  })).value
  await fc.assert(
    fc.asyncProperty(values, fc.string(), async (value, content) => {
      const kept = JSON.parse(JSON.stringify(encodeItem(value, { content })))
      expect(await decodeItem(kept, { content }, none)).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('a text that the message has is stored once', async () => {
  const output = 'line '.repeat(1_000)
  const source = { content: `Before.\n\n${output}` }
  const encoded = encodeItem({ type: 'function_call_result', output }, source)
  expect(JSON.stringify(encoded).length).toBeLessThan(150)
  expect(await decodeItem(encoded, source, none)).toEqual({ type: 'function_call_result', output })
})

test('arguments, the bytes of an image, and bytes come back', async () => {
  const data = 'AAAA'.repeat(20)
  const given = `{"text": "${'word '.repeat(20)}"}`
  const source = { content: '', toolCalls: [{ arguments: given }], parts: [{ data }] }
  const item = { arguments: given, image: `data:image/png;base64,${data}`, bytes: new Uint8Array([0, 255]) }
  const encoded = encodeItem(item, source)
  expect(JSON.stringify(encoded)).not.toContain('word')
  expect(JSON.stringify(encoded)).not.toContain('AAAA')
  expect(await decodeItem(encoded, source, async () => data)).toEqual(item)
})
