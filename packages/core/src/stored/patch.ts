import type { ContextResult } from '@heddle/contracts'
import { contextDigest, type ElementDigests } from './context-digest.js'
import { runsOf } from './delta.js'
import { elementsOf, headOf, withElements } from './elements.js'
import { HIDDEN } from './lines.js'

/**
 * A context as its differences from an earlier one that its receiver has. The receiver takes over the messages, entries,
 * tools and items that both have, so a context of a growing thread is sent as its last message.
 */
export interface ContextPatch {
  readonly id: string
  /** That of the whole context, with which the receiver compares its own. */
  readonly digest: string
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

interface PatchSource {
  /** Those of the context. */
  readonly lines: readonly string[]
  /** The earlier context of the same thread, and its lines. */
  readonly base: { readonly id: string; readonly lines: readonly string[] }
  /** As of {@link contextDigest}. */
  readonly digest: string
}

export function toPatch(result: ContextResult, { lines, base, digest }: PatchSource): ContextPatch {
  const elements = elementsOf(result)
  return {
    id: result.id,
    digest,
    base: base.id,
    head: headOf(result),
    elements: runsOf(lines, base.lines, isShareable).map((run) =>
      'at' in run ? [elements[run.at]] : [run.from, run.count],
    ),
  }
}

/**
 * Makes the context of a patch. Its digest is compared, so whatever the base or the patch is, the result is the context that
 * the worker built, or null.
 *
 * @param digests those of elements that are known
 * @returns null if the base is another context, or if the result has another digest
 */
export function applyPatch(patch: ContextPatch, base: ContextResult, digests?: ElementDigests): ContextResult | null {
  if (patch.base !== base.id) return null
  const known = elementsOf(base)
  const values: unknown[] = []
  for (const [first, count] of patch.elements) {
    if (count === undefined) values.push(first)
    else if (!isRange(first, count, known.length)) return null
    else for (let at = first; at < first + count; at++) values.push(known[at])
  }
  const result = withElements({ id: patch.id, ...patch.head }, values) as ContextResult | null
  return result !== null && contextDigest(result, digests) === patch.digest ? result : null
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
