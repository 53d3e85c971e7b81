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
  return rows.filter((row, index) => isAboutRange(momentsOf(row, textOf.get(index) ?? ''), row.orderedAtMs, range))
}

/**
 * The moments that a message is about, by the dates in its text, those in the shown part of it first. Arguments of calls
 * are not read: a date there is data of the tool.
 *
 * @returns milliseconds since 1970; empty for a text without dates
 */
export function momentsOf({ sentAtMs }: Pick<HitRow, 'sentAtMs'>, content: string, shown = ''): readonly number[] {
  const named = namedMoments(content, sentAtMs)
  const known = new Set(named)
  // The shown part may come from elsewhere, such as a call, or cut a date.
  return [...namedMoments(shown, sentAtMs).filter((momentMs) => known.has(momentMs)), ...named]
}
