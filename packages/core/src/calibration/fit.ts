import { limits } from '@heddle/contracts'

/*
 * A provider's count of a request is a line over ours: a ratio of its tokenizer to o200k, and an offset of what the caller
 * sends beside the context, such as a system prompt or tools of its own. Both are medians, so that a share of wrong reports
 * does not move them: a quarter of them may be anything for the ratio, and almost half for the offset.
 */

/** A request that was counted twice. */
export interface CountedRequest {
  /** Tokens by our counter. */
  readonly counted: number
  /** Tokens that the provider reported. */
  readonly reported: number
}

/** Predicts a provider's count: at most `(offset + ratio * counted) * (1 + margin)`. */
export interface CountFit {
  readonly ratio: number
  readonly offset: number
  readonly margin: number
  /** The requests that it was learnt from. */
  readonly samples: number
}

/** With fewer requests nothing is learnt. */
export const FIT_SAMPLES_MIN = 20
/** The newest requests that count: older ones were sent by another version of the client, or of the model. */
export const FIT_SAMPLES_MAX = 64

/** A provider that leaves out parts of a request, such as earlier reasoning, seems to have a ratio below one. */
const RATIO_MIN = 1
/** No tokenizer in use splits text into more tokens. */
const RATIO_MAX = 4
/** A report of fewer is no count of this request. */
const PLAUSIBLE_SHARE_MIN = 0.5
/** The offset changes whenever a client compacts or changes its tools, so only the newest requests count. */
const OFFSET_SAMPLES = 7
const MARGIN_MIN = 0.05
const MARGIN_MAX = 0.25
/** Requests of almost the same size do not show the ratio. */
const PAIR_SPREAD_MIN = 0.25
/** Below it, all requests are of the same size. */
const SPREAD_TOKENS_MIN = 200

/** @param requests in their order; null with too few plausible ones */
export function fitCounts(requests: readonly CountedRequest[]): CountFit | null {
  const samples = requests.filter(isPlausible).slice(-FIT_SAMPLES_MAX)
  if (samples.length < FIT_SAMPLES_MIN) return null
  const ratio = ratioOf(samples)
  const newest = samples.slice(-OFFSET_SAMPLES)
  const offset = Math.max(0, medianOf(newest.map(({ reported, counted }) => reported - ratio * counted)))
  const under = newest.map(({ reported, counted }) => reported / Math.max(1, offset + ratio * counted) - 1)
  // The largest but one: a single wrong report does not widen it.
  const margin = clamp(MARGIN_MIN + Math.max(0, under.toSorted((a, b) => a - b).at(-2) ?? 0), MARGIN_MIN, MARGIN_MAX)
  return { ratio, offset, margin, samples: samples.length }
}

/** The tokens that a provider is expected to count. */
export function predictCount({ ratio, offset }: Pick<CountFit, 'ratio' | 'offset'>, counted: number): number {
  return Math.round(offset + ratio * counted)
}

export function isPlausible({ counted, reported }: CountedRequest): boolean {
  if (!Number.isInteger(counted) || !Number.isInteger(reported) || counted < 1) return false
  return reported >= counted * PLAUSIBLE_SHARE_MIN && reported <= limits.budgetTokensMax
}

/** The median of the slopes between requests of different sizes (Theil and Sen). */
function ratioOf(samples: readonly CountedRequest[]): number {
  const sizes = samples.map(({ counted }) => counted)
  const spread = Math.max(...sizes) - Math.min(...sizes)
  // Without a slope the whole difference counts as the tokenizer's, and none of it as an offset.
  if (spread < SPREAD_TOKENS_MIN) return clampRatio(medianOf(samples.map((one) => one.reported / one.counted)))
  const slopes = samples.flatMap((one, index) =>
    samples.slice(0, index).flatMap((other) => {
      const apart = one.counted - other.counted
      return Math.abs(apart) < spread * PAIR_SPREAD_MIN ? [] : [(one.reported - other.reported) / apart]
    }),
  )
  return clampRatio(medianOf(slopes))
}

const clampRatio = (ratio: number) => clamp(ratio, RATIO_MIN, RATIO_MAX)

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}
