import { isAboutRange, type MomentRange, namedMoments } from '@heddle/core'
import { type HitPlace, type HitRow, loadHitTexts, type Tx } from '@heddle/store'

/** The part of each text in which dates are read. */
const CHARACTERS_OF_HIT_MAX = 8_000

/** The messages about a moment of a range, by the dates in their texts, otherwise by when they were said. */
export async function keepOfRange(
  tx: Tx,
  rows: readonly HitRow[],
  { places, range }: { places: readonly HitPlace[]; range: MomentRange },
): Promise<HitRow[]> {
  const found = rows.flatMap(({ place }) => places[place] ?? [])
  const texts = await loadHitTexts(tx, { places: found, charactersMax: CHARACTERS_OF_HIT_MAX })
  const textOf = new Map(texts.map(({ place, content }) => [place, content]))
  return rows.filter(({ orderedAtMs, sentAtMs }, index) =>
    isAboutRange(namedMoments(textOf.get(index) ?? '', sentAtMs), orderedAtMs, range),
  )
}
