import { remembered } from '../conversation/remembered.js'
import type { ContextLines } from './lines.js'

/**
 * The stored form of a context: its head, then a reference for each run of lines that an earlier context also has
 * (`=12,250`: 250 lines from line 12 on), and each other line verbatim. A line is JSON or `!`, so it never begins with
 * `=`.
 */
export function toDelta({ head, lines }: Pick<ContextLines, 'head' | 'lines'>, base: readonly string[]): string {
  const written = runsOf(lines, base).map((run) => ('at' in run ? (lines[run.at] ?? '') : `=${run.from},${run.count}`))
  return [head, ...written].join('\n')
}

/** Consecutive lines of a base, or the place of a line that is not in the base. */
export type Run = { readonly from: number; readonly count: number } | { readonly at: number }

/**
 * @param isShareable whether a line that the base has, too, may be taken over from it. Default: always
 * @returns all lines, in order
 */
export function runsOf(
  lines: readonly string[],
  base: readonly string[],
  isShareable: (line: string) => boolean = () => true,
): Run[] {
  const places = placesOf(base)
  const runs: Run[] = []
  let from = 0
  let count = 0
  const closeRun = () => {
    if (count > 0) runs.push({ from, count })
    count = 0
  }
  for (const [at, line] of lines.entries()) {
    const mayShare = isShareable(line)
    if (mayShare && count > 0 && base[from + count] === line) {
      count++
      continue
    }
    closeRun()
    const place = mayShare ? places.get(line) : undefined
    if (place === undefined) runs.push({ at })
    else {
      from = place
      count = 1
    }
  }
  closeRun()
  return runs
}

/** A base has two uses: what is stored, and what is sent. */
const placesOf = remembered((base: readonly string[]): ReadonlyMap<string, number> => {
  const places = new Map<string, number>()
  for (let place = base.length - 1; place >= 0; place--) places.set(base[place] ?? '', place)
  return places
})

/** Restores the head and the lines from a delta. */
export function fromDelta(delta: string, base: readonly string[]): { head: string; lines: string[] } {
  const [head = '', ...written] = delta.split('\n')
  const lines = written.flatMap((line) => {
    if (!line.startsWith('=')) return [line]
    const [from = 0, count = 0] = line.slice(1).split(',').map(Number)
    return base.slice(from, from + count)
  })
  return { head, lines }
}
