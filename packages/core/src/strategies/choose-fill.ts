import type { Fill } from '@heddle/contracts'

/** The thread's latest context of the same budget. */
export interface PreviousFill {
  readonly fill: Fill
  readonly headSeq: number
}

/**
 * How a context fills its budget where nobody says. The first one of a budget is asked for once, as far as anybody knows, and
 * is filled. A thread that has grown since its last one is being continued, behind a cache that keeps what they share. One
 * that has not changed gets the same context again.
 */
export function chooseFill(previous: PreviousFill | null, headSeq: number): Fill {
  if (previous === null) return 'budget'
  return previous.headSeq < headSeq ? 'cache' : previous.fill
}
