import type { CountedTokens } from '@heddle/core'

/** The costs of a reply in which texts were recalled. */
export interface RecalledFacts {
  readonly recalls: number
  /** Requests that the reply took. */
  readonly requests: number
  /** Sums over them; null if the provider reported no tokens. */
  readonly usage: CountedTokens | null
  /** The input of the first and the output of the last: the reply without recalls. */
  readonly asked: CountedTokens | null
}

export const NO_RECALLS: RecalledFacts = { recalls: 0, requests: 1, usage: null, asked: null }
