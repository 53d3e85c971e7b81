import type { Epoch, JsonObject } from '@heddle/contracts'
import { describe, expect, test } from 'vitest'
import { checkRendered } from '../provider-requests/check.js'
import { advanceEpoch } from '../provider-requests/epoch.js'
import { planRequest } from '../provider-requests/plan.js'
import { defaultReplacementPolicy } from '../provider-requests/policy.js'
import { pricesOf } from '../provider-requests/prices.js'
import type { Protocol } from '../provider-requests/protocol.js'
import { RequestReader } from '../provider-requests/read-request.js'
import { appendEntries, renderPlan } from '../provider-requests/render.js'
import { entriesToContinue, expansionOf } from './recalled-reply.js'

const reader = new RequestReader()
const policy = { ...defaultReplacementPolicy, addsRecallTool: true }

function send(protocol: Protocol, messages: readonly JsonObject[], epoch: Epoch | null) {
  const tools = [{ name: 'Read', input_schema: {} }]
  const body = Buffer.from(JSON.stringify({ model: 'm', tools, messages }))
  const request = reader.read(protocol, body)
  if (request === null) throw new Error('the sample is no request')
  const { prices } = pricesOf(protocol, 'm')
  const options = { mode: 'stub', policy, prices, prepared: null, nowMs: 0, referenceOf: () => 'msg-12345678' } as const
  const plan = planRequest({ request, body, epoch, ...options })
  const rendered = renderPlan(request, body, plan)
  const sent = reader.read(protocol, rendered)
  expect(checkRendered(request, sent, { epoch, plan })).toEqual([])
  if (sent === null) throw new Error('the rendered body is no request')
  return {
    request,
    rendered,
    sent: JSON.parse(Buffer.from(rendered).toString()) as { tools: { name: string }[]; messages: JsonObject[] },
    epoch: advanceEpoch(epoch, { request, sent, plan, nowMs: 0 }),
  }
}

describe('a reply in which the proxy recalled a text', () => {
  const go = { role: 'user', content: 'go' }
  const recall = { type: 'tool_use', id: 'r1', name: 'heddle_recall', input: { ref: 'msg-12345678' } }
  const result = { type: 'tool_result', tool_use_id: 'r1', content: 'the whole text' }

  test('goes on with what the model said and asked for', () => {
    const { rendered, sent } = send('anthropic', [go], null)
    expect(sent.tools.map(({ name }) => name)).toEqual(['Read', 'heddle_recall'])
    const entry = { role: 'assistant', content: [recall] }
    const part = {
      recalls: [{ id: 'r1', input: null }],
      isContinued: true,
      usage: {},
      texts: ['the whole text'],
      entry,
    }
    const asSent = reader.read('anthropic', rendered)
    if (asSent === null) throw new Error('the rendered body is no request')
    const body = appendEntries(asSent, rendered, entriesToContinue('anthropic', part))
    const { tools, messages } = JSON.parse(Buffer.from(body).toString())
    expect(tools).toEqual(sent.tools)
    expect(messages).toEqual([go, entry, { role: 'user', content: [result] }])
  })

  test('is sent again as it was, with the result before those of the client', () => {
    const first = send('anthropic', [go], null)
    const read = { type: 'tool_use', id: 'c1', name: 'Read', input: {} }
    const parts = [
      {
        recalls: [{ id: 'r0', input: null }],
        isContinued: true,
        usage: {},
        texts: ['before'],
        entry: { role: 'assistant', content: [{ ...recall, id: 'r0' }] },
      },
      {
        recalls: [{ id: 'r1', input: null }],
        isContinued: false,
        usage: {},
        texts: ['the whole text'],
        entry: { role: 'assistant', content: [read, recall] },
      },
    ]
    const expansion = expansionOf('anthropic', 1, parts)
    if (expansion === null) throw new Error('nothing was recalled')
    const epoch = { ...first.epoch, expansions: [expansion] }
    const answer = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'of the client' }] }
    const seen = [go, { role: 'assistant', content: [read] }, answer]
    const second = send('anthropic', seen, epoch)
    const asSent = [
      go,
      { role: 'assistant', content: [{ ...recall, id: 'r0' }] },
      { role: 'user', content: [{ ...result, tool_use_id: 'r0', content: 'before' }] },
      { role: 'assistant', content: [read, recall] },
      { role: 'user', content: [result, ...answer.content] },
    ]
    expect(second.sent.messages).toEqual(asSent)
    const third = send('anthropic', [...seen, { role: 'assistant', content: 'done' }, go], second.epoch)
    expect(third.sent.messages.slice(0, 5)).toEqual(asSent)
    expect(third.sent.tools).toEqual(first.sent.tools)
  })

  test('of chat completions has the result as a message of its own', () => {
    const called = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{}' } })
    const first = send('openai-chat', [go], null)
    const entry = {
      role: 'assistant',
      content: null,
      tool_calls: [called('c1', 'read'), called('r1', 'heddle_recall')],
    }
    const expansion = expansionOf('openai-chat', 1, [
      { recalls: [{ id: 'r1', input: null }], isContinued: false, usage: {}, texts: ['the whole text'], entry },
    ])
    if (expansion === null) throw new Error('nothing was recalled')
    const answer = { role: 'tool', tool_call_id: 'c1', content: 'of the client' }
    const seen = [go, { role: 'assistant', content: null, tool_calls: [called('c1', 'read')] }, answer]
    expect(send('openai-chat', seen, { ...first.epoch, expansions: [expansion] }).sent.messages).toEqual([
      go,
      entry,
      { role: 'tool', tool_call_id: 'r1', content: 'the whole text' },
      answer,
    ])
  })

  test('is left out where the client has another reply in its place', () => {
    const first = send('anthropic', [go], null)
    const entry = { role: 'assistant', content: [recall] }
    const part = { recalls: [{ id: 'r1', input: null }], isContinued: true, usage: {}, texts: ['a'], entry }
    const expansion = expansionOf('anthropic', 1, [part, { ...part, recalls: [], texts: [], isContinued: false }])
    if (expansion === null) throw new Error('nothing was recalled')
    const other = { role: 'assistant', content: [{ type: 'tool_use', id: 'c9', name: 'Read', input: {} }] }
    const answer = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c9', content: 'x' }] }
    const { sent } = send('anthropic', [go, other, answer], { ...first.epoch, expansions: [expansion] })
    expect(sent.messages).toEqual([go, other, answer])
  })
})
