import type { ContextResult } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import type { Message } from '../conversation/message.js'
import {
  applyPatch,
  contextDigest,
  fromDelta,
  fromLines,
  messageTexts,
  namedMessages,
  nameTexts,
  ThreadTexts,
  toDelta,
  toLines,
  toPatch,
} from './index.js'

const message = (seq: number, content: string, fields: Partial<Message> = {}): Message =>
  sampleMessage({ seq, content, id: `01998c1e-0000-7000-8000-${String(seq).padStart(12, '0')}`, ...fields })

const agent = { systemPrompt: 'You weave all day long.', docs: [{ name: 'loom', text: 'How the loom is set up.' }] }

/** Built contexts may contain any JSON; their stored form must not depend on it. */
const resultOf = (messages: readonly unknown[], entries: readonly unknown[]) =>
  ({
    id: 'c',
    thread: 't',
    system: agent.systemPrompt,
    messages,
    tools: [],
    items: [],
    receipt: { entries, notes: ['a note'], tokensRaw: 1 },
  }) as unknown as ContextResult

const texts = (messages: readonly Message[], request: { message?: string }) => (name: string) => {
  if (name === 'q') return request.message
  if (name.startsWith('a')) return [agent.systemPrompt, ...agent.docs.map(({ text }) => text)][Number(name.slice(1))]
  const [seq, index] = name.slice(1).split('.').map(Number)
  const found = messages.find((one) => one.seq === seq)
  return found && messageTexts(found)[index ?? 0]
}

function textsOf(messages: readonly Message[]): ThreadTexts {
  const named = new ThreadTexts()
  named.update(messages)
  return named
}

describe('a stored context', () => {
  const call = { id: 'call_0123456789', name: 'Read', arguments: { path: 'src/a/long/path/to/a/file.ts' } }
  const stored = [
    message(1, 'please weave the red cloth'),
    message(2, '', { role: 'assistant', toolCalls: [call] }),
    message(3, 'the content of the file, rather long', { role: 'tool_result', toolCallId: call.id }),
  ]
  const request = { message: 'and now the blue cloth' }

  it('names texts that are stored elsewhere instead of containing them', () => {
    const result = resultOf(
      [
        { role: 'user', content: stored[0]?.content },
        { role: 'assistant', tool_calls: [{ id: call.id, arguments: JSON.stringify(call.arguments) }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: call.id, input: call.arguments }] },
        { role: 'tool', tool_call_id: call.id, content: stored[2]?.content },
        { role: 'user', content: request.message },
      ],
      [{ messageId: stored[0]?.id, fromSeq: 1 }],
    )
    const lines = toLines(result, nameTexts(textsOf(stored), agent, request), () => false)
    const text = toDelta(lines, [])
    for (const held of ['red cloth', 'blue cloth', 'long/path', 'content of the file', 'You weave']) {
      expect(text).not.toContain(held)
    }
    expect(namedMessages(lines).sort()).toEqual([1, 2, 3])
    const { id, ...rest } = result
    expect(JSON.stringify({ id, ...fromLines(lines, texts(stored, request)) })).toBe(JSON.stringify({ id, ...rest }))
  })

  it('reports missing texts instead of leaving them out', () => {
    const result = resultOf([{ role: 'user', content: stored[0]?.content }], [])
    const lines = toLines(result, nameTexts(textsOf(stored), agent, request), () => false)
    expect(fromLines(lines, texts([], request))).toEqual({ missing: ['m1.0'] })
  })

  it('is damaged, not erased, if its head counts more or fewer lines', () => {
    const lines = toLines(resultOf([{ role: 'user', content: 'x' }], []), new Map(), () => false)
    for (const others of [[], [...lines.lines, '{}']])
      expect(() => fromLines({ ...lines, lines: others }, () => undefined)).toThrow(
        expect.objectContaining({ code: 'INTERNAL', message: expect.stringContaining(`${others.length} lines`) }),
      )
  })

  it('stores a line about another thread separately, and is incomplete without it', () => {
    const result = resultOf(
      [
        { role: 'user', content: 'Other threads: secret' },
        { role: 'user', content: 'x' },
      ],
      [],
    )
    const lines = toLines(result, new Map(), (text) => text.includes('secret'))
    expect(toDelta(lines, [])).not.toContain('secret')
    expect(fromLines(lines, () => undefined)).toMatchObject({ messages: result.messages })
    expect(fromLines({ ...lines, hidden: [] }, () => undefined)).toEqual({ missing: ['a line about another thread'] })
  })

  it('is restored byte for byte with any contents, along any chain of deltas', () => {
    const text = fc.oneof(
      fc.constantFrom('please weave the red cloth', 'and now the blue cloth', '=1,2', '!', 'a\nb', '$', '$$'),
      fc.string({ unit: 'binary', maxLength: 20 }),
    )
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        text,
        fc.integer(),
        fc.constant(null),
        fc.boolean(),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(
          fc.oneof(fc.constantFrom('$', '$$', '__proto__', '1', 'role'), fc.string({ maxLength: 4 })),
          tie('value'),
          {
            maxKeys: 3,
          },
        ),
      ),
    }))
    const names = nameTexts(textsOf(stored), agent, request)
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.array(value, { maxLength: 8 }), fc.array(value, { maxLength: 8 })), { maxLength: 6 }),
        (contexts) => {
          let base: readonly string[] = []
          const deltas: string[] = []
          for (const [messages, entries] of contexts) {
            const lines = toLines(resultOf(messages, entries), names, () => false)
            deltas.push(toDelta(lines, base))
            base = lines.lines
          }
          let read: { head: string; lines: string[] } = { head: '', lines: [] }
          for (const [at, delta] of deltas.entries()) {
            read = fromDelta(delta, read.lines)
            const [messages = [], entries = []] = contexts[at] ?? []
            const { id, ...rest } = resultOf(messages, entries)
            expect({ id, made: JSON.stringify(fromLines({ ...read, hidden: [] }, texts(stored, request))) }).toEqual({
              id,
              made: JSON.stringify(JSON.parse(JSON.stringify(rest))),
            })
          }
        },
      ),
    )
  })

  it('that shares its lines with the previous one stores only new lines', () => {
    const base = Array.from({ length: 1_000 }, (_, line) => JSON.stringify({ line }))
    const delta = toDelta({ head: '{}', lines: [...base.slice(0, 10), '"new"', ...base.slice(200)] }, base)
    expect(delta).toBe('{}\n=0,10\n"new"\n=200,800')
  })
})

describe('a context sent as its differences', () => {
  const stored = [message(1, 'please weave the red cloth'), message(2, 'and then the green one')]
  const said = (text: string) => ({ role: 'user', content: text })
  const contextOf = (id: string, lastText: string) =>
    ({
      ...resultOf([...stored.map(({ content }) => said(content)), said(lastText)], [{ count: 2 }]),
      id,
    }) as ContextResult
  const linesOf = (result: ContextResult, request: { message?: string }, isHidden: (text: string) => boolean) =>
    toLines(result, nameTexts(textsOf(stored), agent, request), isHidden).lines
  const sent = (
    before: ContextResult,
    after: ContextResult,
    lines: { readonly before: readonly string[]; readonly after: readonly string[] },
  ) =>
    toPatch(after, {
      lines: lines.after,
      base: { id: before.id, lines: lines.before },
      digest: contextDigest(after),
    })

  it('takes over the elements that its receiver has', () => {
    const [before, after] = [contextOf('one', 'the blue cloth'), contextOf('two', 'the white cloth')]
    const lines = { before: linesOf(before, {}, () => false), after: linesOf(after, {}, () => false) }
    const patch = sent(before, after, lines)
    expect(patch).toMatchObject({ id: 'two', base: 'one', elements: [[0, 2], [said('the white cloth')], [3, 1]] })
    expect(JSON.stringify(applyPatch(patch, before))).toBe(JSON.stringify(after))
  })

  it.each([
    ['the message of the request', { message: 'the blue cloth!!' }, { message: 'the white cloth!' }, () => false],
    ['hidden lines', {}, {}, (text: string) => text.includes('cloth')],
  ])(
    'never takes over %s, whose lines are equal in both',
    (_, one: { message?: string }, other: { message?: string }, isHidden) => {
      const texts = [one.message ?? 'a blue cloth', other.message ?? 'a white cloth'] as const
      const [before, after] = [contextOf('one', texts[0]), contextOf('two', texts[1])]
      const lines = { before: linesOf(before, one, isHidden), after: linesOf(after, other, isHidden) }
      expect(lines.after).toEqual(lines.before)
      expect(JSON.stringify(applyPatch(sent(before, after, lines), before))).toBe(JSON.stringify(after))
    },
  )

  it('never takes over the texts of an agent, which change with its version', () => {
    const [before, after] = [contextOf('one', agent.systemPrompt), contextOf('two', 'You sew, if asked to.')]
    const lines = { before: linesOf(before, {}, () => false), after: linesOf(after, {}, () => false) }
    const renamed = { ...lines, after: lines.before }
    expect(JSON.stringify(applyPatch(sent(before, after, renamed), before))).toBe(JSON.stringify(after))
  })

  it.each([
    ['another context', { base: 'three' }],
    ['elements that do not exist', { elements: [[0, 9]] }],
    ['a negative number', { elements: [[-1, 4]] }],
    ['too few elements', { elements: [[0, 2]] }],
  ])('is refused if it is of %s', (_, fields) => {
    const [before, after] = [contextOf('one', 'the blue cloth'), contextOf('two', 'the white cloth')]
    const lines = { before: linesOf(before, {}, () => false), after: linesOf(after, {}, () => false) }
    expect(applyPatch({ ...sent(before, after, lines), ...fields } as never, before)).toBeNull()
  })

  it('is refused if the base of the receiver has other elements than that of the sender, also with known digests', () => {
    const [before, after] = [contextOf('one', 'the blue cloth'), contextOf('two', 'the white cloth')]
    const lines = { before: linesOf(before, {}, () => false), after: linesOf(after, {}, () => false) }
    const patch = sent(before, after, lines)
    const other = {
      ...before,
      messages: [said('a message that was erased'), ...before.messages.slice(1)],
    } as typeof before
    const digests = new WeakMap<object, string>()
    expect(applyPatch(patch, other, digests)).toBeNull()
    expect(applyPatch(patch, before, digests)).toEqual(after)
    expect(applyPatch(patch, other, digests)).toBeNull()
  })
})

describe('the digest of a context', () => {
  const result = resultOf([{ role: 'user', content: 'one' }], [{ count: 1 }])

  it('differs with each byte of its elements, its other fields and its id', () => {
    const others = [
      resultOf([{ role: 'user', content: 'two' }], [{ count: 1 }]),
      resultOf([{ content: 'one', role: 'user' }], [{ count: 1 }]),
      resultOf([{ count: 1 }], [{ role: 'user', content: 'one' }]),
      { ...result, id: 'd' },
      { ...result, thread: 'u' },
    ]
    expect(contextDigest(structuredClone(result))).toBe(contextDigest(result))
    for (const other of others) expect(contextDigest(other)).not.toBe(contextDigest(result))
  })
})
