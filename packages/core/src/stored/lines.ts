import { type ContextResult, PermanentError } from '@heddle/contracts'
import { elementsOf, headOf, withElements } from './elements.js'
import type { KnownLines } from './known-lines.js'
import type { TextNames } from './texts.js'

/**
 * A context as lines: one for each message, each tool and item, and each entry of its receipt, and a head for the rest.
 * A line is JSON in which a text stored elsewhere is replaced by its name, `{ "$": "m12.0" }`. The contexts of a thread
 * share most of their lines.
 */
export interface ContextLines {
  readonly head: string
  readonly lines: readonly string[]
  /** Lines that must not be shared with other contexts, in order; `HIDDEN` is in their places. */
  readonly hidden: readonly string[]
}

export const HIDDEN = '!'

/**
 * @param isHidden whether the line with a text may be stored only with this context: it is about another thread, and
 * must be erased together with that thread
 * @param known lines of messages and entries that earlier contexts of the thread had
 */
export function toLines(
  result: ContextResult,
  names: TextNames,
  isHidden: (text: string) => boolean,
  known?: KnownLines,
): ContextLines {
  const hidden: string[] = []
  const line = (value: unknown): string => {
    const before = known?.find(value)
    if (before !== undefined) return before
    let hides = false
    const named: string[] = []
    const text = JSON.stringify(
      encode(value, (leaf) => {
        hides ||= isHidden(leaf)
        const name = names.get(leaf)
        if (name !== undefined) named.push(name)
        return name
      }),
    )
    if (!hides) {
      known?.keep(value, text, named)
      return text
    }
    hidden.push(text)
    return HIDDEN
  }
  const lines = elementsOf(result).map(line)
  const head = line(headOf(result))
  return { head, lines, hidden }
}

/** Texts that a stored context names and that no longer exist. */
export interface MissingTexts {
  readonly missing: readonly string[]
}

/**
 * Restores a context from its lines, field by field in order.
 *
 * @param textOf the text of a name; undefined if it no longer exists
 * @throws PermanentError `INTERNAL` if the head counts more or fewer lines
 */
export function fromLines(
  { head, lines, hidden }: ContextLines,
  textOf: (name: string) => string | undefined,
): Omit<ContextResult, 'id'> | MissingTexts {
  const missing = new Set<string>()
  let place = 0
  const read = (line: string): unknown => {
    const whole = line === HIDDEN ? hidden[place++] : line
    if (whole === undefined) return missing.add('a line about another thread')
    return decode(JSON.parse(whole), (name) => {
      const text = textOf(name)
      if (text === undefined) missing.add(name)
      return text ?? ''
    })
  }
  const values = lines.map(read)
  const whole = read(head) as object
  if (missing.size > 0) return { missing: [...missing] }
  const result = withElements(whole, values)
  if (result === null)
    throw new PermanentError('INTERNAL', `the head of a stored context does not count ${values.length} lines`)
  return result as Omit<ContextResult, 'id'>
}

/** The sequence numbers of the messages whose texts the lines name. */
export function namedMessages({ head, lines, hidden }: ContextLines): number[] {
  const seqs = new Set<number>()
  for (const line of [head, ...lines, ...hidden]) {
    for (const [, seq] of line.matchAll(/"\$":"m(\d+)\./g)) seqs.add(Number(seq))
  }
  return [...seqs]
}

function encode(value: unknown, nameOf: (text: string) => string | undefined): unknown {
  if (typeof value === 'string') {
    const name = nameOf(value)
    return name === undefined ? value : { $: name }
  }
  if (Array.isArray(value)) return value.map((one) => encode(one, nameOf))
  if (typeof value !== 'object' || value === null) return value
  // An object that looks like a name is stored as the list of its fields.
  if (Object.hasOwn(value, '$') || Object.hasOwn(value, '$$'))
    return { $$: Object.entries(value).map(([key, one]) => [key, encode(one, nameOf)]) }
  // A copy with own properties for any field name, so that assigning one has no side effects.
  const encoded: Record<string, unknown> = { ...value }
  for (const key of Object.keys(encoded)) {
    const field = encoded[key]
    if (typeof field === 'string' || (typeof field === 'object' && field !== null)) encoded[key] = encode(field, nameOf)
  }
  return encoded
}

function decode(value: unknown, textOf: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => decode(one, textOf))
  if (typeof value !== 'object' || value === null) return value
  const { $: name, $$: fields } = value as { $?: string; $$?: [string, unknown][] }
  if (Object.hasOwn(value, '$') && name !== undefined) return textOf(name)
  const entries = Object.hasOwn(value, '$$') && fields !== undefined ? fields : Object.entries(value)
  return Object.fromEntries(entries.map(([key, one]) => [key, decode(one, textOf)]))
}
