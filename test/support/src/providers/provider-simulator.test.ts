import { describe, expect, it } from 'vitest'
import { ManualClock } from '../manual-clock.js'
import { ProviderSimulator } from './provider-simulator.js'
import { requestParts, sharedPrefix } from './request-parts.js'

const MINUTE_MS = 60_000
const mark = { type: 'ephemeral' }
/** A text of a number of tokens, of which each is a character here. */
const text = (name: string, tokens = 100) => ({ type: 'text', text: name.padEnd(tokens, '.') })
const marked = (name: string, tokens = 100, ttl?: string) => ({
  ...text(name, tokens),
  cache_control: { ...mark, ttl },
})
const count = (said: string) => said.length

function open(protocol: 'anthropic' | 'openai-chat' = 'anthropic') {
  const clock = new ManualClock()
  const simulator = new ProviderSimulator({ protocol, clock, count })
  const send = (fields: object) =>
    simulator.request(JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 1, ...fields }))
  const usage = (...content: object[]) => {
    const answer = send({ messages: [{ role: 'user', content }] })
    expect(answer.faults).toEqual([])
    return answer.usage
  }
  return { clock, simulator, send, usage }
}

describe('the cache of Anthropic', () => {
  it('writes at a mark, reads it in the next request, and takes the rest at the price of an input', () => {
    const { usage } = open()
    expect(usage(marked('a', 2000), text('b'))).toEqual({ input: 100, cacheRead: 0, write5m: 2000, write1h: 0 })
    expect(usage(text('a', 2000), marked('b'), text('c'))).toEqual({
      input: 100,
      cacheRead: 2000,
      write5m: 100,
      write1h: 0,
    })
  })

  it('reads nothing once a part before the mark has changed', () => {
    const { usage } = open()
    usage(text('a'), marked('b', 2000))
    expect(usage(text('A'), marked('b', 2000)).cacheRead).toBe(0)
  })

  it('holds no prefix shorter than the minimum of the model', () => {
    const { usage } = open()
    expect(usage(marked('a', 1023))).toEqual({ input: 1023, cacheRead: 0, write5m: 0, write1h: 0 })
    expect(usage(marked('a', 1024)).write5m).toBe(1024)
  })

  it('reads an entry for five minutes after its last use', async () => {
    const { usage, clock } = open()
    usage(marked('a', 2000))
    await clock.advance(5 * MINUTE_MS - 1)
    expect(usage(marked('a', 2000)).cacheRead).toBe(2000)
    await clock.advance(5 * MINUTE_MS - 1)
    expect(usage(marked('a', 2000)).cacheRead).toBe(2000)
    await clock.advance(5 * MINUTE_MS)
    expect(usage(marked('a', 2000)).cacheRead).toBe(0)
  })

  it('reads an entry of an hour for an hour, at twice the price of an input', async () => {
    const { usage, clock } = open()
    expect(usage(marked('a', 2000, '1h'), marked('b'))).toEqual({ input: 0, cacheRead: 0, write5m: 100, write1h: 2000 })
    await clock.advance(59 * MINUTE_MS)
    expect(usage(marked('a', 2000, '1h'), marked('b'))).toEqual({ input: 0, cacheRead: 2000, write5m: 100, write1h: 0 })
    await clock.advance(60 * MINUTE_MS)
    expect(usage(marked('a', 2000, '1h')).cacheRead).toBe(0)
  })

  it('checks 20 parts back from a mark for an entry', () => {
    const added = (parts: number) => Array.from({ length: parts }, (_, index) => text(`added ${index}`))
    const { usage } = open()
    usage(marked('a', 2000))
    expect(usage(text('a', 2000), ...added(18), marked('last')).cacheRead).toBe(2000)
    const other = open()
    other.usage(marked('a', 2000))
    expect(other.usage(text('a', 2000), ...added(19), marked('last')).cacheRead).toBe(0)
  })

  it('reads entries at marks alone: equal parts without one were never written', () => {
    const { usage } = open()
    usage(text('a', 2000), marked('b', 2000), text('c', 2000))
    expect(usage(text('a', 2000), marked('x', 2000)).cacheRead).toBe(0)
    expect(usage(text('a', 2000), text('b', 2000), marked('c', 2000)).cacheRead).toBe(4000)
  })

  it('is by model', () => {
    const { usage, send } = open()
    usage(marked('a', 5000))
    const messages = [{ role: 'user', content: [marked('a', 5000)] }]
    expect(send({ model: 'claude-opus-4-5', messages }).usage.cacheRead).toBe(0)
  })

  it('loses the messages when thinking or the choice of tools changes, and keeps the tools and the system prompt', () => {
    const { send } = open()
    const request = { system: [marked('s', 2000)], messages: [{ role: 'user', content: [marked('a', 2000)] }] }
    send(request)
    expect(send({ ...request, tool_choice: { type: 'any' } }).usage.cacheRead).toBe(2000)
    expect(send(request).usage.cacheRead).toBe(4000)
  })

  it('takes a text and a list of one text as equal', () => {
    const { send } = open()
    send({ messages: [{ role: 'user', content: [marked('a', 2000)] }] })
    const [said] = [text('a', 2000).text]
    const messages = [
      { role: 'user', content: said },
      { role: 'assistant', content: [marked('b')] },
    ]
    expect(send({ messages }).usage.cacheRead).toBe(2000)
  })
})

it('prices the input in micro-dollars, and refuses an invalid request without a price', () => {
  const { send } = open()
  const messages = [{ role: 'user', content: [marked('a', 2000), text('b')] }]
  expect(send({ messages }).inputCost).toBeCloseTo(2000 * 3.75 + 100 * 3)
  expect(send({ messages }).inputCost).toBeCloseTo(2000 * 0.3 + 100 * 3)
  expect(send({ messages: [] })).toMatchObject({ inputCost: 0, faults: [expect.stringContaining('at least one')] })
})

describe('the cache of OpenAI', () => {
  const chat = (...texts: string[]) => ({
    model: 'gpt-4o',
    messages: texts.map((content) => ({ role: 'user', content })),
  })

  it('holds prefixes of 1,024 tokens and more in steps of 128, without a mark', () => {
    const { send } = open('openai-chat')
    const [short, long] = ['a'.repeat(1023), 'b'.repeat(1200)]
    send(chat(short))
    expect(send(chat(short)).usage.cacheRead).toBe(0)
    expect(send(chat(long)).usage).toEqual({ input: 1200, cacheRead: 0, write5m: 0, write1h: 0 })
    expect(send(chat(long, 'c')).usage).toEqual({ input: 49, cacheRead: 1152, write5m: 0, write1h: 0 })
  })

  it('loses an entry after five minutes without use', async () => {
    const { send, clock } = open('openai-chat')
    send(chat('a'.repeat(2048)))
    await clock.advance(5 * MINUTE_MS)
    expect(send(chat('a'.repeat(2048))).usage.cacheRead).toBe(0)
  })
})

it('a prefix is unbroken by marks that moved, and broken by a changed text, tool or order', () => {
  const parts = (body: object) => requestParts('anthropic', { model: 'm', ...body }, count)
  const messages = (...content: object[]) => [{ role: 'user', content }]
  const before = parts({ tools: [{ name: 'a' }], messages: messages(text('a'), marked('b')) })
  const shared = (body: object) => sharedPrefix(before, parts(body)).isWhole
  expect(shared({ tools: [{ name: 'a' }], messages: messages(marked('a'), text('b'), marked('c')) })).toBe(true)
  expect(shared({ tools: [{ name: 'a' }], messages: messages(text('a'), text('B')) })).toBe(false)
  expect(shared({ tools: [{ name: 'b' }], messages: messages(text('a'), text('b')) })).toBe(false)
  expect(shared({ tools: [{ name: 'a' }], messages: messages(text('b'), text('a')) })).toBe(false)
  expect(shared({ tools: [{ name: 'a' }], messages: messages(text('a')) })).toBe(false)
})
