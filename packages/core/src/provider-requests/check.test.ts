import { describe, expect, test } from 'vitest'
import { checkRendered } from './check.js'
import { advanceEpoch } from './epoch.js'
import { planRequest } from './plan.js'
import { defaultReplacementPolicy } from './policy.js'
import { pricesOf } from './prices.js'
import { RequestReader } from './read-request.js'

const reader = new RequestReader()
const mark = { cache_control: { type: 'ephemeral' } }
const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'Read', input: {} }] }
const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'text' }] }
const history = [{ role: 'user', content: 'go' }, call, result]

function read(messages: readonly object[], model = 'm') {
  const body = Buffer.from(JSON.stringify({ model, messages }))
  const request = reader.read('anthropic', body)
  if (request === null) throw new Error('the sample is no request')
  return { body, request }
}

function planned({ body, request }: ReturnType<typeof read>, epoch: Parameters<typeof planRequest>[0]['epoch'] = null) {
  const { prices } = pricesOf('anthropic', 'm')
  const options = { mode: 'compact', policy: defaultReplacementPolicy, prices, prepared: null, nowMs: 0 } as const
  return planRequest({ request, body, epoch, referenceOf: () => 'msg-12345678', ...options })
}

describe('a rendered request', () => {
  const original = read(history)
  const plan = planned(original)
  const faultsOf = (messages: readonly object[], model?: string) =>
    checkRendered(original.request, read(messages, model).request, { epoch: null, plan })

  test('that equals the original has no fault', () => {
    expect(faultsOf(history)).toEqual([])
  })

  test.each([
    ['pair-broken', [history[0], result]],
    ['pair-broken', [history[0], call, { role: 'user', content: 'next' }]],
    ['begins-without-user', [call, result]],
    [
      'too-many-marks',
      [
        { role: 'user', content: Array.from({ length: 5 }, () => ({ type: 'text', text: 'a', ...mark })) },
        call,
        result,
      ],
    ],
    ['last-entry-changed', [...history, { role: 'user', content: 'another' }]],
  ] as const)('has the fault %s', (fault, messages) => {
    expect(faultsOf(messages as readonly object[])).toContain(fault)
  })

  test('for another model, or that cannot be read, may not be sent', () => {
    expect(faultsOf(history, 'other')).toEqual(['head-changed'])
    expect(checkRendered(original.request, null, { epoch: null, plan })).toEqual(['unreadable'])
  })

  test('keeps the bytes that were sent before', () => {
    const epoch = advanceEpoch(null, { ...original, sent: original.request, plan, nowMs: 0 })
    const longer = read([...history, { role: 'assistant', content: 'done' }, { role: 'user', content: 'and now' }])
    const next = planned(longer, epoch)
    expect(next.isNewEpoch).toBe(false)
    expect(checkRendered(longer.request, longer.request, { epoch, plan: next })).toEqual([])
    const changed = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'other text' }] }
    const other = read([
      history[0] as object,
      call,
      changed,
      { role: 'assistant', content: 'done' },
      { role: 'user', content: 'and now' },
    ])
    expect(checkRendered(longer.request, other.request, { epoch, plan: next })).toEqual(['prefix-changed'])
  })
})

describe('a model that binds its reasoning to what precedes it', () => {
  const long = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'words '.repeat(20_000) }] }

  test.each([
    ['claude-opus-5-5', true],
    ['claude-sonnet-5-5-20260928', true],
    ['claude-haiku-5-5', true],
    ['claude-fable-5-1', true],
    ['anthropic.claude-fable-5-2', true],
    ['claude-opus-6', true],
    ['claude-opus-5', false],
    ['claude-opus-5-20260724', false],
    ['claude-sonnet-4-6', false],
    ['claude-3-7-sonnet-latest', false],
    ['glm-4.6', false],
  ])('gets nothing replaced: %s %s', (model, isBound) => {
    const plan = planned(read([history[0] as object, call, long], model))
    expect(plan.stubs).toHaveLength(isBound ? 0 : 1)
    if (isBound) expect(plan.reasons).toEqual(['bound-reasoning'])
  })
})
