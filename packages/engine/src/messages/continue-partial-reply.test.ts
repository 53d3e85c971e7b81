import type { MessageInput } from '@heddle/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { continueGrownIn, type EarlierForm, restOf } from './continue-partial-reply.js'

const id = '018f0000-0000-7000-8000-00000000000a'
const rest = '018f0000-0000-7000-8000-00000000000b'

type Block = { kind: 'text' | 'thought' | 'call'; text: string }

/** As readers of sessions make a message of blocks. */
function messageOf(blocks: readonly Block[]): MessageInput & { role: 'assistant' } {
  const of = (kind: Block['kind']) => blocks.filter((block) => block.kind === kind)
  const thinking = of('thought').map(({ text }) => ({ text, signature: 's' }))
  const toolCalls = of('call').map(({ text }, index) => ({ id: `c${index}`, name: 'Read', arguments: { path: text } }))
  return {
    id,
    role: 'assistant',
    content: of('text')
      .map(({ text }) => text)
      .join('\n\n'),
    ...(thinking.length > 0 && { thinking }),
    ...(toolCalls.length > 0 && { toolCalls }),
  }
}

const stored = ({ thinking = [], toolCalls = [], role, content }: MessageInput) => ({
  role,
  content,
  thinking,
  toolCalls,
})

test('a message and its continuation contain together what the whole message contains, wherever it was cut', () => {
  const block = fc.record({
    kind: fc.constantFrom('text' as const, 'thought' as const, 'call' as const),
    text: fc.string({ minLength: 1 }).filter((text) => !text.includes('\n')),
  })
  fc.assert(
    fc.property(fc.array(block, { maxLength: 8 }), fc.nat(8), (blocks, cut) => {
      const before = messageOf(blocks.slice(0, cut))
      const grown = messageOf(blocks)
      const added = restOf(stored(before), grown, rest)
      expect(added).not.toBeNull()
      expect(added).toMatchObject({ id: rest, role: 'assistant' })
      const texts = [before.content, added?.content ?? ''].filter((text) => text !== '')
      expect(texts.join('\n\n')).toBe(grown.content)
      expect([...(before.thinking ?? []), ...(added?.thinking ?? [])]).toEqual(grown.thinking ?? [])
      expect([...(before.toolCalls ?? []), ...(added?.toolCalls ?? [])]).toEqual(grown.toolCalls ?? [])
    }),
  )
})

test('a message that does not extend the stored one is left for ingest to refuse', () => {
  const before = messageOf([
    { kind: 'text', text: 'hello' },
    { kind: 'call', text: '/a' },
  ])
  for (const other of [
    messageOf([{ kind: 'text', text: 'hello' }]),
    messageOf([
      { kind: 'text', text: 'goodbye' },
      { kind: 'call', text: '/a' },
    ]),
    messageOf([
      { kind: 'text', text: 'hello' },
      { kind: 'call', text: '/b' },
    ]),
    { ...before, role: 'user' as const, toolCalls: undefined },
  ]) {
    expect(restOf(stored(before), other as MessageInput, rest)).toBeNull()
  }
})

test('continuations are sent after their reply and in their order, though the reply has one time', async () => {
  const sentAt = '2026-02-12T14:30:00.000Z'
  const grown = { id: '018f0000-0000-7000-8000-000000000001', role: 'assistant' as const, sentAt }
  const history = new Map<string, EarlierForm>()
  const times: (string | undefined)[] = []
  for (const content of ['One.', 'One. Two.', 'One. Two. Three.']) {
    const { messages } = await continueGrownIn(history, '018f0000-0000-7000-8000-0000000000aa', [{ ...grown, content }])
    for (const message of messages) {
      history.set(message.id, { role: 'assistant', content: message.content })
      times.push(message.sentAt)
    }
  }
  expect(times).toEqual([sentAt, '2026-02-12T14:30:00.001Z', '2026-02-12T14:30:00.002Z'])
})
