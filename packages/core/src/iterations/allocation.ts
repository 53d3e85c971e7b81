/** What spec 002 gives each part of a loop's prompt at most, in tokens. Together they stay well below its target. */
export const loopTokens = {
  goalMax: 1_000,
  iterationsMax: 30_000,
  iterationMax: 6_000,
  instructionsMax: 500,
  /** Spec 002's target for a whole context. */
  targetMax: 50_000,
} as const
