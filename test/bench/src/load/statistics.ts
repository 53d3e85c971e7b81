export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)] ?? Number.NaN
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? upper) + upper) / 2 : upper
}

/** @param share 0 to 1; NaN without values */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** The duration of some work in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

/** Default limit for all rounds of one measurement: a slow machine gets fewer of them. */
const ROUNDS_MS_MAX = 20_000

/**
 * Measures several things alternately, round after round, every second round in reverse order, so that other load on the machine
 * affects all of them equally. The first round is a warm-up; at least one more is measured, however long it takes.
 *
 * @returns the result of each round, by name
 */
export async function interleaved<Name extends string, Result>(
  rounds: number,
  measures: Record<Name, (round: number) => Promise<Result>>,
  roundsMsMax: number = ROUNDS_MS_MAX,
): Promise<Record<Name, Result[]>> {
  const names = Object.keys(measures) as Name[]
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Result[]>
  const endsAtMs = performance.now() + roundsMsMax
  for (let round = 0; round <= rounds && (round <= 1 || performance.now() < endsAtMs); round++) {
    for (const name of round % 2 === 0 ? names : [...names].reverse()) {
      const result = await measures[name](round)
      if (round > 0) results[name].push(result)
    }
  }
  return results
}
