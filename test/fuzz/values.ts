import { limits } from '@heddle/contracts'
import type { Random } from './random.js'

/** Parts of texts that have caused faults: unpaired surrogates, control characters, syntax of other languages. */
const PIECES = [
  'plain words ',
  'ü',
  '😀',
  '\ud83d',
  '\ude00',
  '\ude00\ud83d',
  '\uffff',
  '\ufeff',
  '\u2028',
  '\u202e',
  'e\u0301',
  'ﷺ',
  '\0',
  '\u0001',
  '\u001b[2J',
  '\r\n',
  '\t',
  '\\',
  '\\u0000',
  '\\ud800',
  '"',
  "'",
  '`',
  '{',
  '}',
  '[',
  '"}],',
  '/*',
  '*/',
  '--',
  '; drop table heddle.messages;',
  '$1',
  '$$',
  '%s',
  '<script>',
  '</summary>',
  '[recall:msg-00000000]',
  '__proto__',
  'constructor',
  'toJSON',
  'null',
  'undefined',
  'NaN',
  '0x10',
  '1e999',
  ':',
  '/',
  '..',
  '%2e',
  'nexora://a/b/msg-1',
  ' ',
] as const

export function text(random: Random, piecesMax = 6): string {
  return random.list(0, piecesMax, () => random.pick(PIECES)).join('')
}

/** Names at the limits of the rule: with colons, slashes, quotes, letters outside of the basic plane, and of the full length. */
export function goodName(random: Random): string {
  const most = limits.nameCharactersMax
  return random.pick([
    'cloth',
    'a:b',
    'a/b',
    '../..',
    '...',
    "o'neill",
    '"q"',
    'ü',
    '😀',
    'a b',
    '%',
    '{}',
    '__proto__',
    'constructor',
    '$1',
    'x'.repeat(most),
    `${'x'.repeat(most - 2)}😀`,
    `thread ${random.whole(0, 99)}`,
  ])
}

export function badName(random: Random): unknown {
  const most = limits.nameCharactersMax
  return random.pick([
    '',
    ' ',
    ' a',
    'a ',
    '\0',
    'a\nb',
    'a\u007fb',
    '\ud800',
    'a\udc00',
    'x'.repeat(most + 1),
    '\ufeff',
    '\u2003a',
    7,
    null,
    true,
    [],
    {},
    ['a'],
  ])
}

export function goodTime(random: Random): string {
  return random.pick([
    '2026-02-12T14:30:00Z',
    '2026-02-12T14:30:00.123Z',
    '2026-02-12T15:30:00.123456789+01:00',
    '1970-01-01T00:00:00Z',
    '1969-12-31T23:59:59.999Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+00:00',
    '9999-12-31T23:59:59.999Z',
    '2024-02-29T00:00:00Z',
    '0099-06-01T00:00:00-23:59',
    '2016-12-31T23:59:59+14:00',
    '4713-01-01T00:00:00Z',
    new Date(random.whole(0, 4_000_000_000) * 1_000).toISOString(),
  ])
}

export function badTime(random: Random): unknown {
  return random.pick([
    '2024-13-40T00:00:00Z',
    '2024-13-40',
    '2023-02-29T00:00:00Z',
    '2016-12-31T23:59:60Z',
    '2024-01-01T24:00:00Z',
    '+275760-09-13T00:00:00.000Z',
    '-271821-04-20T00:00:00.000Z',
    '275760-09-13T00:00:00Z',
    '2024-01-01',
    'now',
    'infinity',
    '9999-12-31T23:59:59.999-23:59',
    '0000-01-01T00:00:00+23:59',
    '2024-01-01T00:00:00',
    '2024-01-01T00:00:00+99:99',
    '2024-01-01T00:00:00Z\0',
    '',
    0,
    1e300,
    null,
    [],
  ])
}

export function badId(random: Random): unknown {
  return random.pick([
    '',
    'id',
    '00000000',
    random.uuid().slice(1),
    `${random.uuid()}0`,
    `{${random.uuid()}}`,
    random.uuid().replaceAll('-', ''),
    random.uuid().replace('a', 'g'),
    ` ${random.uuid()}`,
    `${random.uuid()}\n`,
    7,
    null,
    {},
    [random.uuid()],
  ])
}

const NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.1,
  1e21,
  1e-7,
  5e-324,
  1.7976931348623157e308,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 63),
  2 ** 31,
  255,
]

/** Any JSON value, of any shape that a job can hold. */
export function json(random: Random, depth = 3): unknown {
  switch (random.whole(0, depth > 0 ? 6 : 4)) {
    case 0:
      return null
    case 1:
      return random.oneIn(2)
    case 2:
      return random.pick(NUMBERS)
    case 3:
    case 4:
      return text(random)
    case 5:
      return random.list(0, 4, () => json(random, depth - 1))
    default:
      return jsonObject(random, depth - 1)
  }
}

const KEYS = [
  'path',
  '__proto__',
  'constructor',
  'toJSON',
  'toString',
  'hasOwnProperty',
  'length',
  '0',
  '-1',
  '',
  '\0',
  '\ud800',
  'a.b',
  'then',
]

/**
 * Not a backslash alone: once Node 24.21 has parsed `{"constructor":1,"":2,"\\\\":3}`, it reads the last key of
 * `{"constructor":1,"":2,"\\ud800":3}` as a backslash, too. Node 20 does not.
 */
function key(text: string): string {
  return text === '\\' ? 'backslash' : text
}

export function jsonObject(random: Random, depth = 3): Record<string, unknown> {
  const fields = random.list(0, 4, (): [string, unknown] => [
    random.oneIn(3) ? key(text(random, 2)) : random.pick(KEYS),
    json(random, depth),
  ])
  // Defines each field, also `__proto__`, as JSON.parse does.
  return Object.fromEntries(fields)
}

/** A JSON value of so many levels. */
export function nested(levels: number, innermost: unknown = 1): unknown {
  let value = innermost
  for (let level = 0; level < levels; level++) value = level % 3 === 0 ? { a: value } : [value]
  return value
}

/** JSON values that no field accepts, for places where another value belongs. */
export function strayJson(random: Random): unknown {
  return random.pick<() => unknown>([
    () => json(random),
    () => null,
    () => nested(limits.jsonDepthMax + random.whole(-2, 2)),
    () => nested(random.oneIn(200) ? 10_000 : 200),
    () => random.pick(NUMBERS),
    () => [],
    () => ({}),
    () => 'x'.repeat(random.whole(500, 520)),
  ])()
}

/** Values that only a program in the same process can pass, because JSON cannot express them. */
export function strayValue(random: Random): unknown {
  return random.pick<() => unknown>([
    () => undefined,
    () => Number.NaN,
    () => Number.NEGATIVE_INFINITY,
    () => 10n ** 30n,
    () => Symbol('stray'),
    () => () => 'called',
    () => new Date(random.oneIn(2) ? Number.NaN : 0),
    () => new Map([['a', 1]]),
    () => new Set([1]),
    () => /a+/,
    () => new Error('stray'),
    () => Promise.resolve(1),
    () => Buffer.from('bytes'),
    () => new Uint8Array(3),
    () => Object.create(null),
    () => Object.create({ inherited: true }),
    () => new Array(random.whole(1, 1_000)),
    () => new String('boxed'),
    () => Object.freeze({ frozen: [1] }),
    () => ({ toJSON: () => 'other' }),
    () => ({
      toString: () => {
        throw new Error('stray')
      },
    }),
    () => throwing(),
    () => cyclic(),
    // Refused after as many steps as the largest message has characters.
    () => (random.oneIn(100) ? shared() : Symbol.iterator),
    () => revoked(),
    () =>
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('stray')
          },
        },
      ),
  ])()
}

function throwing(): unknown {
  return Object.defineProperty({ before: 1 }, 'read', {
    enumerable: true,
    get() {
      throw new Error('stray')
    },
  })
}

function cyclic(): unknown {
  const list: unknown[] = [1]
  const object = { list }
  list.push(object, list)
  return object
}

/** Few objects with more values than fit into memory. */
function shared(): unknown {
  let value: unknown = 'shared'
  for (let level = 0; level < 50; level++) value = [value, { value }]
  return { value }
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
