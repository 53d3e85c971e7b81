import type { Fill } from '@heddle/contracts'

/** The thread's latest context of the same budget. */
export interface PreviousFill {
  readonly fill: Fill
  readonly headSeq: number
}

/**
 * Default fill of a context. The first context of a budget is assumed to be a one-time request, and is filled. A thread
 * that has grown since its last one is being continued, with a provider cache of the shared prefix. An unchanged thread
 * gets the same context again.
 */
export function chooseFill(previous: PreviousFill | null, headSeq: number): Fill {
  if (previous === null) return 'budget'
  return previous.headSeq < headSeq ? 'cache' : previous.fill
}
