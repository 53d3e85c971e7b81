import type { ContextLines } from './lines.js'

/**
 * The stored form of a context: its head, then a reference for each run of lines that an earlier context also has
 * (`=12,250`: 250 lines from line 12 on), and each other line verbatim. A line is JSON or `!`, so it never begins with
 * `=`.
 */
export function toDelta({ head, lines }: Pick<ContextLines, 'head' | 'lines'>, base: readonly string[]): string {
  const places = new Map<string, number>()
  for (let place = base.length - 1; place >= 0; place--) places.set(base[place] ?? '', place)
  const written = [head]
  let from = 0
  let count = 0
  const closeRun = () => {
    if (count > 0) written.push(`=${from},${count}`)
    count = 0
  }
  for (const line of lines) {
    if (count > 0 && base[from + count] === line) {
      count++
      continue
    }
    closeRun()
    const place = places.get(line)
    if (place === undefined) written.push(line)
    else {
      from = place
      count = 1
    }
  }
  closeRun()
  return written.join('\n')
}

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
