/** A provider's price for a cached token, and for one that is added to the cache. */
const READ_UNITS = 0.1
const WRITE_UNITS = 1.25

/** One request compared with the previous one. */
export interface Request {
  readonly sentTokens: number
  /** Those of its tokens that are a shared prefix with the previous request. */
  readonly sharedTokens: number
  /** Tokens of the previous request, without those that change each time. */
  readonly stableBeforeTokens: number
  /** Whether a compaction lies between the two. */
  readonly isCompacted: boolean
}

/** Sums over requests. */
export class Account {
  requests = 0
  sentTokens = 0
  sharedTokens = 0
  costUnits = 0
  compactions = 0
  /** Of requests without a compaction before them. */
  stableTokens = 0
  keptTokens = 0

  add({ sentTokens, sharedTokens, stableBeforeTokens, isCompacted }: Request): void {
    this.requests++
    this.sentTokens += sentTokens
    this.sharedTokens += sharedTokens
    this.costUnits += READ_UNITS * sharedTokens + WRITE_UNITS * (sentTokens - sharedTokens)
    if (isCompacted) this.compactions++
    else {
      this.stableTokens += stableBeforeTokens
      this.keptTokens += Math.min(sharedTokens, stableBeforeTokens)
    }
  }

  include(other: Account): void {
    this.requests += other.requests
    this.sentTokens += other.sentTokens
    this.sharedTokens += other.sharedTokens
    this.costUnits += other.costUnits
    this.compactions += other.compactions
    this.stableTokens += other.stableTokens
    this.keptTokens += other.keptTokens
  }

  /** Share of a request that is a prefix of the next one, outside compactions. */
  get prefixShare(): number {
    return this.stableTokens === 0 ? 1 : this.keptTokens / this.stableTokens
  }
}
