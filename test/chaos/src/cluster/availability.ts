/** A span of time, in the time of `performance.now()`. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** The times at which something succeeded that users try all the time. */
export class Availability {
  readonly #successesMs: number[] = []

  note(atMs: number): void {
    this.#successesMs.push(atMs)
  }

  /**
   * The longest time without a success that overlaps one of some spans, in milliseconds. It ends with the last success,
   * because users finish one by one; without any it is the whole time.
   *
   * @param tried the time in which users tried
   */
  longestGapMs(tried: Span, spans: readonly Span[] = [tried]): number {
    const endsMs = this.#successesMs.length === 0 ? [tried.toMs] : this.#successesMs
    let [longestMs, fromMs] = [0, tried.fromMs]
    for (const toMs of endsMs) {
      const overlaps = spans.some((span) => fromMs <= span.toMs && toMs >= span.fromMs)
      if (overlaps) longestMs = Math.max(longestMs, toMs - fromMs)
      fromMs = toMs
    }
    return longestMs
  }
}
