import { limits } from '@heddle/contracts'
import type { Fields } from './messages.js'
import type { Random } from './random.js'
import { badId, badName, badTime, strayJson, strayValue } from './values.js'

const RULES: Readonly<Record<string, (random: Random) => unknown>> = {
  agent: badName,
  thread: badName,
  id: badId,
  projectId: badId,
  requestId: badId,
  contextId: badId,
  sentAt: badTime,
  orderedAt: badTime,
  role: (random) => random.pick(['User', 'tool', '', '__proto__', 'constructor', 7]),
  content: (random) => random.pick<unknown>([null, 7, ['text'], { text: 'text' }]),
  ordinal: (random) => random.pick([-1, 0.5, 2_000_000_001, 1e300, '0', null]),
  ack: (random) => random.pick<unknown>(['later', '', null, true]),
  onBusy: (random) => random.pick<unknown>(['', 'Wait', null, 0]),
  deadlineMs: (random) => random.pick<unknown>([0, -1, 1e9, '1', null]),
  startedAtMs: (random) => random.pick<unknown>([8.64e15, -8.64e15, 1e300, '0', null]),
  newAgentRollingWindow: (random) => random.pick<unknown>([0, -1, 0.5, 1e15, 'none']),
  sourceId: (random) => random.pick<unknown>(['', 'a\0', '\ud800', 'x'.repeat(513), 7]),
}

/** Names that a fault may add where they are not allowed. */
const ADDED = [
  'id',
  'sourceId',
  'thinking',
  'toolCalls',
  'toolCallId',
  'usage',
  'metadata',
  'signal',
  'onProgress',
  'pinned',
  '__proto__',
  'toJSON',
  'constructor',
  'other',
]

/** Breaks a value in some places inside of it; the result may still be valid. */
export function breakSomewhere(random: Random, root: Fields, places: number, ofProgram: boolean): void {
  /** Inserted by an earlier fault: not a place for another, since reading it may throw. */
  const strays = new Set<unknown>()
  const stray = () => {
    const value = ofProgram && random.oneIn(2) ? strayValue(random) : strayJson(random)
    strays.add(value)
    return value
  }
  for (let place = 0; place < places; place++) {
    let at: Fields | unknown[] = root
    for (;;) {
      const keys: string[] = Object.keys(at)
      const key = keys.length === 0 ? undefined : random.pick(keys)
      const inner = key === undefined ? undefined : (at as Fields)[key]
      const isLast = random.oneIn(4) || inner === null || typeof inner !== 'object' || strays.has(inner)
      if (isLast) {
        if (Array.isArray(at)) breakArray(random, at, stray)
        else breakObject(random, at, key, stray)
        break
      }
      at = inner as Fields
    }
  }
}

function breakArray(random: Random, at: unknown[], stray: () => unknown): void {
  if (random.oneIn(500)) {
    while (at.length <= limits.messagesPerJobMax) at.push(at[0])
    return
  }
  const faults = [
    () => at.push(stray()),
    () => at.push(at[0]),
    () => at.splice(0),
    () => {
      at.length += 1
    },
  ]
  random.pick<() => unknown>(faults)()
}

function breakObject(random: Random, at: Fields, key: string | undefined, stray: () => unknown): void {
  const set = (name: string, value: unknown) => {
    Object.defineProperty(at, name, { value, enumerable: true, configurable: true, writable: true })
  }
  const kind = random.whole(0, 3)
  if (key === undefined || kind === 0) set(random.pick(ADDED), stray())
  else if (kind === 1) delete at[key]
  else if (typeof at[key] === 'string' && random.oneIn(2_000)) set(key, 'x'.repeat(limits.messageCharactersMax + 1))
  else {
    const rule = Object.hasOwn(RULES, key) ? RULES[key] : undefined
    set(key, rule !== undefined && random.oneIn(2) ? rule(random) : stray())
  }
}

/** Breaks the text of a payload at the level of bytes: truncated, changed, duplicated, and syntax that only a text can hold. */
export function breakText(random: Random, text: string): string {
  const at = random.whole(0, text.length)
  switch (random.whole(0, 8)) {
    case 0:
      return text.slice(0, at)
    case 1:
      return text.slice(0, at) + random.pick(['\0', '\ud800', '"', '\\', '}', '[', ',', '\n', 'é']) + text.slice(at + 1)
    case 2:
      return text.replace('{', `{${random.pick(['"agent":"first",', '"__proto__":{"agent":"x"},', '"messages":[],'])}`)
    case 3:
      return text.replace(
        /"ordinal":\d+/,
        `"ordinal":${random.pick(['1e400', '-1e400', '00', '0x1', '1.0', '1e1', 'NaN'])}`,
      )
    case 4:
      return deepened(random, text)
    case 5:
      return text.replace('"content":', '"content":"first","content":')
    case 6:
      return JSON.stringify(text)
    case 7: {
      const bytes = Buffer.from(text)
      for (let count = random.whole(1, 8); count > 0; count--)
        bytes[random.whole(0, bytes.length - 1)] = random.whole(0, 255)
      return bytes.toString('utf8')
    }
    default:
      return random.pick(['', ' ', 'null', '[]', '{}', '0', '"', 'undefined', '\ufeff{}', text + text])
  }
}

function deepened(random: Random, text: string): string {
  const levels = random.oneIn(10) ? 10_000 : limits.jsonDepthMax + random.whole(-2, 2)
  return text.replace('"role":', `"metadata":{"a":${'['.repeat(levels)}${']'.repeat(levels)}},"role":`)
}
