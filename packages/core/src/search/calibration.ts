/**
 * Cosines of different models mean different things: two texts that have nothing in common have a cosine of .0 under one and
 * of .7 under another. A score is a cosine brought to the scale of `all-MiniLM-L6-v2`, for which the default thresholds were
 * chosen: `0` has nothing in common, `.2` is as much as unrelated texts reach, `.7` is surely meant, `1` says the same. So
 * thresholds hold for each embedder, and survive a change of it.
 *
 * Each row maps cosines to scores at some points, with straight lines between them. `heddle-hashing` was measured on 20 short
 * requests against 12 items: of unrelated pairs 99 % stay below .16, and of related ones a quarter reaches .47. Those of OpenAI
 * are estimates: nobody could measure them here.
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

/** The points between which cosines of a model are brought to scores; of models that are not known, as they are. */
export function scoreAnchors(model: string): readonly (readonly [cosine: number, score: number])[] {
  return tables.find(({ models }) => models.test(model))?.anchors ?? AS_IT_IS
}

/** The score of a cosine under a model, from 0 to 1; never falls where the cosine rises. */
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
