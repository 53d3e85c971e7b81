/**
 * A computation that yields regularly. A content may have four million characters, and a process that serves many
 * callers must not block for one of them: the driver of the computation serves others at each yield, which comes after
 * a few milliseconds of work at most. The rules stay pure: they do not know who waits, or for how long.
 */
export type Pausable<Result> = Generator<undefined, Result>

/** Runs a computation to its end without yielding, for short contents and for tests. */
export function finish<Result>(steps: Pausable<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
