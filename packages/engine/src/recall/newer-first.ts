import { asksForValue, findReplacements, newerFirst } from '@heddle/core'
import { type FoundRow, type HitRow, loadHitTexts } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/** The first results of a search, among which statements that replace earlier ones are sought. */
const COMPARED_MAX = 20
const CHARACTERS_OF_HIT_MAX = 8_000

/** A result, and the message that replaces it. */
export interface DatedHit extends FoundRow<HitRow> {
  /** Not lower than that of the result after it. */
  readonly score: number
  readonly supersededBy: string | null
}

/** How many results a search needs, so that the newest statement of a value is among them. */
export function hitsToFind(query: string, limit: number): number {
  return asksForValue(query) ? Math.max(limit, COMPARED_MAX) : limit
}

/** Puts statements of the value that a query asks for before those that they replace: see `findReplacements`. */
export async function rankNewerFirst(
  { store, projectId }: EngineContext,
  query: string,
  rows: readonly FoundRow<HitRow>[],
): Promise<DatedHit[]> {
  if (!asksForValue(query)) return rows.map((row) => ({ ...row, score: row.document.score, supersededBy: null }))
  const places = rows.slice(0, COMPARED_MAX).map(({ place }) => place)
  const texts = await store.inProject(projectId, (tx) =>
    loadHitTexts(tx, { places, charactersMax: CHARACTERS_OF_HIT_MAX }),
  )
  const replacements = findReplacements(
    query,
    rows.map(({ row, place }, index) => {
      const { content = '', isOfPerson = false } = texts.find((text) => text.place === index) ?? {}
      return { text: content, isOfPerson, atMs: row.orderedAtMs, seq: place.seq }
    }),
  )
  let score = 0
  const hits = newerFirst(replacements).flatMap((index) => {
    const found = rows[index]
    const newest = rows[replacements[index]?.[0] ?? -1]
    return found === undefined ? [] : [{ ...found, supersededBy: newest?.row.messageId ?? null }]
  })
  return hits
    .reverse()
    .map((hit) => {
      score = Math.max(score, hit.document.score)
      return { ...hit, score }
    })
    .reverse()
}
