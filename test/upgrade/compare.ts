import { isDeepStrictEqual } from 'node:util'
import type { Readings } from './reading.js'

/** One place of an answer that has changed. */
export interface Difference {
  /** The request. */
  readonly asked: string
  /** The place in the answer, with `*` for positions in lists: `body.items.*.tokens`. */
  readonly place: string
  readonly before: unknown
  readonly after: unknown
}

const ABSENT = Symbol('absent')

/**
 * The places in which the later answers differ from the earlier ones. An additional value is a new field in an object, and
 * not a difference there; in a list it is one.
 */
export function compareReadings(before: Readings, after: Readings): Difference[] {
  return [...before].flatMap(([asked, value]) => [
    ...differences(value, after.has(asked) ? after.get(asked) : ABSENT).map((found) => ({ asked, ...found })),
  ])
}

type Found = Omit<Difference, 'asked'>

function differences(before: unknown, after: unknown, place: readonly string[] = []): Found[] {
  if (isDeepStrictEqual(before, after)) return []
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((value, index) => differences(value, after[index], [...place, '*']))
  }
  if (isRecord(before) && isRecord(after)) {
    return Object.entries(before).flatMap(([key, value]) =>
      differences(value, key in after ? after[key] : ABSENT, [...place, key]),
    )
  }
  return [{ place: place.join('.'), before: shown(before), after: shown(after) }]
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown(value: unknown): unknown {
  return value === ABSENT ? '(nothing)' : value
}
