import type { Stub } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RequestReader } from '../provider-requests/read-request.js'
import { recalledReferences } from './recalled-references.js'
import { headDigest, recordedHead } from './recorded-head.js'
import { recordedRequest } from './recorded-request.js'
import { type RecordedBefore, type RequestDelta, requestDelta, textHash } from './request-delta.js'

const reader = new RequestReader()

function read(body: object) {
  const bytes = Buffer.from(JSON.stringify(body))
  const request = reader.read('anthropic', bytes)
  if (request === null) throw new Error('the sample is no request')
  return { request, bytes }
}

interface Step {
  readonly kept: number
  readonly words: readonly string[]
  readonly stubbed: readonly number[]
  readonly covered: number
}

const step = fc.record({
  kept: fc.nat({ max: 8 }),
  words: fc.array(fc.constantFrom('one', 'two', 'three'), { minLength: 1, maxLength: 3 }),
  stubbed: fc.uniqueArray(fc.nat({ max: 8 }), { maxLength: 4 }),
  covered: fc.nat({ max: 3 }),
})

const stubOf = (entry: number, text: string): Stub => {
  return {
    entry,
    result: 0,
    callId: `c${entry}`,
    reference: 'msg-1',
    text,
    tokensBefore: 100,
    tokensAfter: 10,
    tokensKept: 10,
  }
}

test('requests that repeat, leave and change one another are put together again from their differences', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps: Step[]) => {
      let messages: { role: string; content: string }[] = []
      let before: RecordedBefore | null = null
      const deltas: RequestDelta[] = []
      for (const [number, { kept, words, stubbed, covered }] of steps.entries()) {
        messages = [...messages.slice(0, kept), ...words.map((content) => ({ role: 'user', content }))]
        const { request, bytes } = read({ model: 'm', system: `${Math.floor(number / 3)}`, messages })
        const stubs = stubbed
          .toSorted((one, other) => one - other)
          .filter((entry) => entry < messages.length)
          .map((entry) => stubOf(entry, `${entry} ${covered}`))
        const cover =
          covered === 0
            ? null
            : { to: covered, chain: '', text: `cover ${covered}`, words: null, tokensBefore: 9, tokensAfter: 3 }
        const plan = { stubs, cover, expansions: [], hasRecallTool: number % 2 === 0 }
        const { delta, texts } = requestDelta({
          request,
          plan,
          before,
          head: number % 3 === 0 ? recordedHead(request, bytes).head : null,
          messagesOf: (entry) => [`${entry} ${messages[entry]?.content}`],
          resultOf: (callId) => `result of ${callId}`,
        })
        deltas.push(delta)
        before = { entries: request.entries.map(({ hash }) => hash), stubs, cover, expansions: [] }
        const whole = recordedRequest(deltas)
        expect(whole?.entries.map(({ messages: ids }) => ids[0])).toEqual(
          messages.map(({ content }, entry) => `${entry} ${content}`),
        )
        expect(whole?.stubs.map(({ entry, hash }) => ({ entry, hash }))).toEqual(
          stubs.map(({ entry, text }) => ({ entry, hash: textHash('stub', text) })),
        )
        expect(whole?.cover?.to ?? 0).toBe(covered)
        expect(whole?.hasRecallTool).toBe(plan.hasRecallTool)
        expect(texts.every(({ hash, kind, text }) => hash === textHash(kind, text))).toBe(true)
      }
    }),
  )
})

test('a request that extends the last one adds its new entries alone', () => {
  const messages = Array.from({ length: 50 }, (_, index) => ({ role: 'user', content: `message ${index}` }))
  const before = read({ messages: messages.slice(0, 49) }).request
  const { delta, texts } = requestDelta({
    request: read({ messages }).request,
    plan: { stubs: [], cover: null, expansions: [], hasRecallTool: false },
    before: { entries: before.entries.map(({ hash }) => hash), stubs: [], cover: null, expansions: [] },
    head: null,
    messagesOf: () => ['id'],
    resultOf: () => 'id',
  })
  expect(delta.entries).toHaveLength(1)
  expect(JSON.stringify(delta).length).toBeLessThan(300)
  expect(texts).toEqual([])
})

describe('the fields beside a conversation', () => {
  const secret = { authorization: 'canary', headers: { key: 'canary' }, authorization_token: 'canary' }
  const body = {
    model: 'm',
    max_tokens: 5,
    system: 'be good',
    tools: [{ name: 'read', description: 'Reads', input_schema: {}, ...secret }],
    mcp_servers: [secret],
    metadata: { user_id: 'canary' },
    api_key: 'canary',
    messages: [{ role: 'user', content: 'go' }],
  }

  test('are kept without any that may hold credentials', () => {
    const { request, bytes } = read(body)
    const { head, texts } = recordedHead(request, bytes)
    expect(head.omitted).toBe(3)
    expect(texts.map(({ text }) => text)).toEqual([
      'be good',
      '[{"name":"read","description":"Reads","input_schema":{}}]',
      '{"model":"m","max_tokens":5}',
    ])
  })

  test('have another digest if one of them changes, and the same with a longer conversation', () => {
    const digest = (given: object) => {
      const { request, bytes } = read({ ...body, ...given })
      return headDigest(request, bytes)
    }
    expect(digest({ messages: [...body.messages, { role: 'assistant', content: 'yes' }] })).toBe(digest({}))
    expect(digest({ max_tokens: 6 })).not.toBe(digest({}))
    expect(digest({ metadata: {} })).not.toBe(digest({}))
  })
})

test('references of recalls are read from both forms of calls, and nothing else is', () => {
  const block = { type: 'tool_use', id: 'r', name: 'heddle_recall', input: { ref: '[recall:msg-4k2m9x7q:L1-5]' } }
  const call = { function: { name: 'heddle_recall', arguments: '{"ref":"msg-4k2m9x7q"}' } }
  const other = { function: { name: 'read', arguments: '{"ref":"msg-00000000"}' } }
  const entries = [
    JSON.stringify({ role: 'assistant', content: [{ type: 'text', text: 'msg-00000000' }, block] }),
    JSON.stringify({ role: 'assistant', content: null, tool_calls: [call, other] }),
    '{"role":"tool","content":"msg-00000000"}',
    'no JSON',
  ]
  expect(recalledReferences({ entries })).toEqual(['msg-4k2m9x7q:L1-5', 'msg-4k2m9x7q'])
})
