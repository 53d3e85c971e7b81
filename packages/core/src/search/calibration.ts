/**
 * Cosines of different models mean different things: two unrelated texts have a cosine of .0 under one and of .7 under
 * another. A score is a cosine mapped to the scale of `all-MiniLM-L6-v2`, for which the default thresholds were chosen:
 * `0` is unrelated, `.2` is the most that unrelated texts reach, `.7` is surely related, `1` is identical. So
 * thresholds hold for each embedder, and survive a change of it.
 *
 * Each row maps cosines to scores at some points, with linear interpolation between them. `heddle-hashing` was measured
 * on 20 short requests against 12 items: of unrelated pairs 99 % stay below .16, and of related ones a quarter reaches
 * .47. Those of OpenAI are estimates: they could not be measured here.
 */
const tables: readonly {
  readonly models: RegExp
  readonly anchors: readonly (readonly [cosine: number, score: number])[]
}[] = [
  {
    models: /^heddle-hashing-/,
    anchors: [
      [0, 0],
      [0.16, 0.2],
      [0.45, 0.7],
      [1, 1],
    ],
  },
  {
    models: /text-embedding-3-/,
    anchors: [
      [0.05, 0],
      [0.2, 0.2],
      [0.5, 0.7],
      [1, 1],
    ],
  },
  {
    models: /text-embedding-ada-002/,
    anchors: [
      [0.68, 0],
      [0.74, 0.2],
      [0.83, 0.7],
      [1, 1],
    ],
  },
]

const AS_IT_IS = [
  [0, 0],
  [1, 1],
] as const

/** Interpolation points from cosines to scores for a model; the identity for an unknown model. */
export function scoreAnchors(model: string): readonly (readonly [cosine: number, score: number])[] {
  return tables.find(({ models }) => models.test(model))?.anchors ?? AS_IT_IS
}

/** The score of a cosine under a model, from 0 to 1; monotonic in the cosine. */
export function calibratedScore(model: string, cosine: number): number {
  const anchors = scoreAnchors(model)
  let [lowCosine, lowScore] = anchors[0] ?? [0, 0]
  if (!(cosine > lowCosine)) return lowScore
  for (const [highCosine, highScore] of anchors.slice(1)) {
    if (cosine <= highCosine)
      return lowScore + ((cosine - lowCosine) / (highCosine - lowCosine)) * (highScore - lowScore)
    ;[lowCosine, lowScore] = [highCosine, highScore]
  }
  return lowScore
}
