/** Sizes of what is replaced and of what stands in its place, in tokens as the provider counts them. */
export interface ReplacementPolicy {
  /** A result of at least this size is shortened before it is sent for the first time. */
  readonly resultTokensMin: number
  /** Size of the lines that stand for it. */
  readonly resultTokensKept: number
  /** The same for results that the model has answered, wherever a prefix is written anew. */
  readonly oldResultTokensMin: number
  readonly oldResultTokensKept: number
  /** Size of the newest entries that no summary covers. */
  readonly keptTokens: number
  /** Size of a summary. */
  readonly summaryTokens: number
  /** A summary that removes less is not worth its loss of detail. */
  readonly coverTokensMin: number
  /** Share of the model's window above which a cover no longer has to pay. */
  readonly windowShare: number
  /** Whether the proxy's own tool for recalls is added to a caller's tools. */
  readonly addsRecallTool: boolean
}

export const defaultReplacementPolicy: ReplacementPolicy = {
  resultTokensMin: 4_000,
  resultTokensKept: 1_200,
  oldResultTokensMin: 500,
  oldResultTokensKept: 80,
  keptTokens: 6_000,
  summaryTokens: 2_000,
  coverTokensMin: 5_000,
  windowShare: 0.8,
  addsRecallTool: false,
}

/** The same policy, by which no further result is shortened. */
export function withoutNewStubs(policy: ReplacementPolicy): ReplacementPolicy {
  return { ...policy, resultTokensMin: Number.POSITIVE_INFINITY, oldResultTokensMin: Number.POSITIVE_INFINITY }
}

/** The same sizes in estimated tokens, of which the provider counts `tokenRatio` each. */
export function scaledPolicy(policy: ReplacementPolicy, tokenRatio: number): ReplacementPolicy {
  return {
    ...policy,
    resultTokensMin: policy.resultTokensMin / tokenRatio,
    resultTokensKept: policy.resultTokensKept / tokenRatio,
    oldResultTokensMin: policy.oldResultTokensMin / tokenRatio,
    oldResultTokensKept: policy.oldResultTokensKept / tokenRatio,
    keptTokens: policy.keptTokens / tokenRatio,
    summaryTokens: policy.summaryTokens / tokenRatio,
    coverTokensMin: policy.coverTokensMin / tokenRatio,
  }
}
