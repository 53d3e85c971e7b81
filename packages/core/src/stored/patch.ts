import type { ContextResult } from '@heddle/contracts'
import { runsOf } from './delta.js'
import { elementsOf, headOf, withElements } from './elements.js'
import { HIDDEN } from './lines.js'

/**
 * A context as its differences from an earlier one that its receiver has. The receiver takes over the messages, entries,
 * tools and items that both have, so a context of a growing thread is sent as its last message.
 */
export interface ContextPatch {
  readonly id: string
  /** The id of the earlier context. */
  readonly base: string
  /** The context with the number of elements in place of each list. */
  readonly head: object
  /**
   * The elements of all lists, in the order of their lines: a run of the earlier context's elements, as the first of them and
   * their number, or a list with one new element.
   */
  readonly elements: readonly (readonly [first: number, count: number] | readonly [element: unknown])[]
}

/** A context whose lines are known. */
interface LinesOf {
  readonly id: string
  readonly lines: readonly string[]
}

/**
 * @param lines those of the context
 * @param base the earlier context of the same thread
 */
export function toPatch(result: ContextResult, lines: readonly string[], base: LinesOf): ContextPatch {
  const elements = elementsOf(result)
  return {
    id: result.id,
    base: base.id,
    head: headOf(result),
    elements: runsOf(lines, base.lines, isShareable).map((run) =>
      'at' in run ? [elements[run.at]] : [run.from, run.count],
    ),
  }
}

/** @returns null if the base is another context, or the patch is malformed */
export function applyPatch(
  { id, base: baseId, head, elements }: ContextPatch,
  base: ContextResult,
): ContextResult | null {
  if (baseId !== base.id) return null
  const known = elementsOf(base)
  const values: unknown[] = []
  for (const [first, count] of elements) {
    if (count === undefined) values.push(first)
    else if (!isRange(first, count, known.length)) return null
    else for (let at = first; at < first + count; at++) values.push(known[at])
  }
  return withElements({ id, ...head }, values) as ContextResult | null
}

/**
 * Whether equal lines of two contexts of a thread have equal texts: names of the request's message and of the agent's texts
 * stand for others in each request and version, and the text of a hidden line is elsewhere.
 */
function isShareable(line: string): boolean {
  return line !== HIDDEN && !line.includes('{"$":"q"}') && !line.includes('{"$":"a')
}

function isRange(first: unknown, count: unknown, length: number): first is number {
  return (
    Number.isSafeInteger(first) &&
    Number.isSafeInteger(count) &&
    (first as number) >= 0 &&
    (count as number) > 0 &&
    (first as number) + (count as number) <= length
  )
}
