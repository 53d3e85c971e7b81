import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatReference, type Location, messageReference, parseReference, recallTag } from './references.js'

const name = fc.oneof(
  fc.string({ minLength: 1, unit: 'grapheme' }),
  fc.constantFrom('_', 'current', '.', '..', 'a/b', 'a:b', '%2F', 'é ü', '[x]'),
)
const code = fc.stringMatching(/^[0-9a-z]{8,12}$/)
const count = fc.integer({ min: 1, max: 999_999_999 })
const location: fc.Arbitrary<Location> = fc.oneof(
  fc.tuple(count, count).map(([a, b]): Location => ({ kind: 'lines', from: Math.min(a, b), to: Math.max(a, b) })),
  fc.record({ kind: fc.constantFrom('match' as const, 'tool' as const), number: count }),
)
const reference = fc.record({
  project: fc.option(name),
  thread: fc.option(name),
  message: code,
  location: fc.option(location),
})

test('a text that is no reference is refused with an example of one and the meaning of its scheme', () => {
  expect(() => parseReference('https://heddle.example/msg-1a2b3c4d')).toThrow(
    expect.objectContaining({ code: 'VALIDATION_ERROR', hint: expect.stringContaining('an address within Heddle') }),
  )
})

test('a written reference is parsed back unchanged, for any names, wrapped or not', () => {
  fc.assert(
    fc.property(reference, (some) => {
      const text = formatReference(some)
      expect(text).toMatch(/^nexora:\/\/[^/\s]+\/[^/\s]+\/msg-[0-9a-z]+(?::[A-Za-z0-9-]+)?$/)
      expect(parseReference(text)).toEqual(some)
      expect(parseReference(`[recall:${text}]`)).toEqual(some)
    }),
  )
})

test.each([
  ['nexora://nexora-cli/abc12345/msg-def67890', ['nexora-cli', 'abc12345', 'def67890', null]],
  [
    'nexora://nexora-cli/abc12345/msg-def67890:L50-100',
    ['nexora-cli', 'abc12345', 'def67890', { kind: 'lines', from: 50, to: 100 }],
  ],
  [
    'nexora://nexora-cli/abc12345/msg-def67890:match-3',
    ['nexora-cli', 'abc12345', 'def67890', { kind: 'match', number: 3 }],
  ],
  ['nexora://_/current/msg-def67890', [null, null, 'def67890', null]],
  ['msg-def67890', [null, null, 'def67890', null]],
  ['msg-def67890:L10', [null, null, 'def67890', { kind: 'lines', from: 10, to: 10 }]],
  ['[recall:msg-def67890:tool-2]', [null, null, 'def67890', { kind: 'tool', number: 2 }]],
  ['[recall:msg-def67890:part-3]', [null, null, 'def67890', { kind: 'part', number: 3 }]],
  ['recall:msg-def67890:L2', [null, null, 'def67890', { kind: 'lines', from: 2, to: 2 }]],
  [' [recall:nexora://_/current/msg-DEF67890] ', [null, null, 'def67890', null]],
] as const)('reads %s', (text, [project, thread, message, place]) => {
  expect(parseReference(text)).toEqual({ project, thread, message, location: place })
})

test.each([
  ['', 'must not be empty'],
  ['[recall:]', 'must not be empty'],
  ['recall:', 'must not be empty'],
  ['http://a/b/msg-def67890', 'must begin with nexora://'],
  ['nexora://a/msg-def67890', 'must name a project, a thread and a message'],
  ['nexora://a/b/c/msg-def67890', 'must name a project, a thread and a message'],
  ['nexora:///b/msg-def67890', 'must not hold an empty name'],
  ['nexora://a/%zz/msg-def67890', 'percent-encoded'],
  ['def67890', 'must name a message as msg-'],
  ['msg-', 'must name a message as msg-'],
  ['msg-def 890', 'must name a message as msg-'],
  ['msg-def67890:', 'must end with a location'],
  ['msg-def67890:L0', 'must end with a location'],
  ['msg-def67890:L9-3', 'must end with a location'],
  ['msg-def67890:match-0', 'must end with a location'],
  ['msg-def67890:page-2', 'must end with a location'],
  ['x'.repeat(5_000), 'at most 4000 characters'],
])('refuses %j with its rule', (text, rule) => {
  expect(() => parseReference(text)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR', field: 'ref' }))
  expect(() => parseReference(text)).toThrow(rule)
})

test('any text is read or refused with a typed error', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('', 'msg-', 'nexora://', '[recall:msg-'),
      (text, start) => {
        try {
          parseReference(start + text)
        } catch (error) {
          expect(error).toMatchObject({ code: 'VALIDATION_ERROR' })
        }
      },
    ),
  )
})

test('a name that cannot be written is refused', () => {
  const write = (project: string) => () => formatReference({ project, thread: null, message: 'def67890' })
  expect(write('')).toThrow('project: must be a text')
  expect(write('\ud800')).toThrow('project: must be a text')
})

test('a condensed text shows the short form', () => {
  expect(recallTag(messageReference('def67890'))).toBe('[recall:msg-def67890]')
})
