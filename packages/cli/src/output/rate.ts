/** Milliseconds that a rate averages over: long enough to hide a single hitch, short enough to show a slowdown. */
const SPAN_MS = 15_000

/** The recent speed of some work, and the time left at that speed. */
export class Rate {
  readonly #samples: { readonly atMs: number; readonly done: number }[]

  constructor(startedAtMs: number) {
    this.#samples = [{ atMs: startedAtMs, done: 0 }]
  }

  /** @returns `secondsLeft` is null while nothing is done */
  at(
    atMs: number,
    { done, total }: { done: number; total: number },
  ): { perSecond: number; secondsLeft: number | null } {
    const samples = this.#samples
    samples.push({ atMs, done })
    while (samples.length > 2 && atMs - (samples[1]?.atMs ?? 0) >= SPAN_MS) samples.shift()
    const [first] = samples
    const tookMs = first === undefined ? 0 : atMs - first.atMs
    const perSecond = first === undefined || tookMs <= 0 ? 0 : ((done - first.done) * 1_000) / tookMs
    const rounded = Math.round(perSecond * 10) / 10
    return { perSecond: rounded, secondsLeft: perSecond > 0 ? Math.ceil((total - done) / perSecond) : null }
  }
}
