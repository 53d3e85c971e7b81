import { type ProviderRequest, RequestReader } from '@heddle/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KnownMessages } from './known-messages.js'
import { newMessagesOf, withoutRefused } from './new-messages.js'

const THREAD_ID = '01890000-0000-7000-8000-000000000000'
const reader = new RequestReader()

function store(known: KnownMessages, texts: readonly string[]): readonly string[] {
  const body = Buffer.from(
    JSON.stringify({ model: 'm', messages: texts.map((content) => ({ role: 'user', content })) }),
  )
  const request = reader.read('anthropic', body) as ProviderRequest
  const { messages, added } = newMessagesOf(request, body, { thread: 't', threadId: THREAD_ID, known })
  known.add(added)
  return messages.map(({ id = '' }) => id)
}

test('messages of a conversation are new once, whatever its client drops, repeats and adds between two requests', () => {
  const text = fc.constantFrom('a', 'b', 'c')
  const change = fc.record({ dropped: fc.constantFrom(0, 0, 1, 3), added: fc.array(text, { maxLength: 4 }) })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 10, size: 'max' }), (changes) => {
      const known = new KnownMessages()
      const stored = new Set<string>()
      const texts: string[] = []
      for (const { dropped, added } of changes) {
        texts.splice(Math.max(0, texts.length - dropped))
        texts.push(...added)
        for (const id of store(known, texts)) {
          expect(stored.has(id)).toBe(false)
          stored.add(id)
        }
        expect(known.list.map(({ entry }) => entry)).toEqual(texts.map((_, entry) => entry))
        expect(known.list.map(({ id }) => id)).toEqual(store(new KnownMessages(), texts))
      }
    }),
  )
})

test('entries that are refused or not understood are no stored ones, until the client drops them', () => {
  const body = Buffer.from(
    JSON.stringify({
      model: 'm',
      messages: [...['a', 'b'].map((content) => ({ role: 'user', content })), { role: 7 }],
    }),
  )
  const request = reader.read('anthropic', body) as ProviderRequest
  const known = new KnownMessages()
  const { messages, added, skipped } = newMessagesOf(request, body, { thread: 't', threadId: THREAD_ID, known })
  known.add(withoutRefused(added, messages.slice(1)))
  expect(skipped).toBe(1)
  expect([...known.unstored].sort()).toEqual([1, 2])
  expect(known.list.map(({ entry }) => entry)).toEqual([0])
  expect(store(known, ['a', 'c'])).toHaveLength(1)
  expect(known.unstored.size).toBe(0)
})
