/** Maximum tokens of each part of a run's prompt. Together they stay well below the target. */
export const loopTokens = {
  goalMax: 1_000,
  iterationsMax: 30_000,
  iterationMax: 6_000,
  instructionsMax: 500,
  /** The target for a whole context. */
  targetMax: 50_000,
} as const
