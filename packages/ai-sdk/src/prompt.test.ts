import { expect, test } from 'vitest'
import { toModelMessage, toPromptMessage } from './prompt.js'
import { ReplyCollector } from './reply-collector.js'
import { usageOf } from './usage.js'

const media = {
  role: 'tool' as const,
  content: [
    {
      type: 'tool-result' as const,
      toolCallId: '1',
      toolName: 'look',
      output: { type: 'content' as const, value: [{ type: 'media' as const, data: 'AAAA', mediaType: 'image/png' }] },
    },
  ],
}
const partOf = (version: 'v2' | 'v3' | 'v4') =>
  (toPromptMessage(media, version).content as { output: { value: unknown[] } }[])[0]?.output.value[0]

test('files in results have the form of each version', () => {
  expect(partOf('v2')).toEqual({ type: 'media', data: 'AAAA', mediaType: 'image/png' })
  expect(partOf('v3')).toEqual({ type: 'image-data', data: 'AAAA', mediaType: 'image/png' })
  expect(partOf('v4')).toEqual({ type: 'file', data: { type: 'data', data: 'AAAA' }, mediaType: 'image/png' })
})

test('texts and images of a context become parts of a prompt', () => {
  expect(toPromptMessage({ role: 'user', content: 'Hello' }, 'v2').content).toEqual([{ type: 'text', text: 'Hello' }])
  const shown = { role: 'user' as const, content: [{ type: 'image' as const, image: 'AAAA', mediaType: 'image/png' }] }
  expect(toPromptMessage(shown, 'v4').content).toEqual([
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } },
  ])
})

test('the bytes and addresses of files in a prompt are read as text', () => {
  const file = (data: unknown) => ({ role: 'user', content: [{ type: 'file', mediaType: 'image/png', data }] })
  const read = (data: unknown) => (toModelMessage(file(data))['content'] as { data: unknown }[])[0]?.data
  expect(read(new Uint8Array([0, 1, 2]))).toBe('AAEC')
  expect(read({ type: 'data', data: 'AAEC' })).toBe('AAEC')
  expect(read(new URL('https://example.com/a.png'))).toBe('https://example.com/a.png')
  expect(read({ type: 'url', url: new URL('https://example.com/a.png') })).toBe('https://example.com/a.png')
})

test('usage is the same from the numbers of version 2 and the kinds of later ones', () => {
  const counted = { inputTokens: 60, cacheReadTokens: 40, cacheWriteTokens: 0, outputTokens: 10 }
  expect(usageOf({ inputTokens: 100, outputTokens: 10, cachedInputTokens: 40 })).toEqual(counted)
  const input = { total: 100, noCache: 60, cacheRead: 40, cacheWrite: 0 }
  expect(usageOf({ inputTokens: input, outputTokens: { total: 10 } })).toEqual(counted)
  expect(usageOf({ inputTokens: undefined, outputTokens: undefined })).toBeUndefined()
})

test('a streamed reply is whole once its model has finished', () => {
  const collector = new ReplyCollector()
  for (const part of [
    { type: 'reasoning-start', id: '1' },
    { type: 'reasoning-delta', id: '1', delta: 'Hm' },
    { type: 'reasoning-end', id: '1', providerMetadata: { anthropic: { signature: 's' } } },
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'Look' },
    { type: 'text-delta', id: '1', delta: 'ing.' },
    { type: 'text-end', id: '1' },
    { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: '{"at":1}' },
  ])
    collector.add(part)
  expect(collector.isWhole).toBe(false)
  collector.add({ type: 'finish', usage: { inputTokens: 1 } })
  expect(collector.isWhole).toBe(true)
  expect(collector.content).toEqual([
    { type: 'reasoning', text: 'Hm', providerOptions: { anthropic: { signature: 's' } } },
    { type: 'text', text: 'Looking.' },
    { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: { at: 1 } },
  ])
})
