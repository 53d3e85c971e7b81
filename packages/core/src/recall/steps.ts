/**
 * A computation that pauses now and again. A content may be four million characters, and a process that serves many callers
 * must not stop for one of them: whoever drives the computation lets others have their turn at each pause, which comes after
 * a few milliseconds of work at most. The rules stay pure: they do not know who waits, nor for how long.
 */
export type Pausable<Result> = Generator<undefined, Result>

/** Carries a computation out in one go, for short contents and for tests. */
export function finish<Result>(steps: Pausable<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
