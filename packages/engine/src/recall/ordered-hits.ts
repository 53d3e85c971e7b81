import type { SearchExplanation } from '@heddle/client/interface'
import { comparedResults, reorder } from '@heddle/core'
import { loadHitTexts } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import type { RerankedRows } from './rerank.js'

/** The part of a text that its rules read. */
const CHARACTERS_OF_HIT_MAX = 8_000

type Row = RerankedRows['rows'][number]

/** A result in its place, and the message that replaces it. */
export interface OrderedHit extends Row {
  /** Not lower than that of the result after it. */
  readonly score: number
  readonly supersededBy: string | null
  /** The rule that moved it up; null for one that stays or gives way. */
  readonly rule: SearchExplanation['rule']
}

/** Orders the results of a search by the rules of `reorder`, which read the texts of the first ones. */
export async function orderHits(
  { store, projectId }: EngineContext,
  query: string,
  rows: readonly Row[],
): Promise<OrderedHit[]> {
  const compared = rows.slice(0, comparedResults(query))
  if (compared.length === 0) return descending(rows.map(unmoved))
  const places = compared.map(({ place }) => place)
  const texts = await store.inProject(projectId, (tx) =>
    loadHitTexts(tx, { places, charactersMax: CHARACTERS_OF_HIT_MAX }),
  )
  const textAt = new Map(texts.map((text) => [text.place, text]))
  const { order, covering, replacedBy } = reorder(
    query,
    compared.map(({ row, place, document }, index) => {
      const { content = '', isOfPerson = false, speaker = null } = textAt.get(index) ?? {}
      return { text: content, isOfPerson, speaker, atMs: row.orderedAtMs, seq: place.seq, score: document.score }
    }),
  )
  const replacing = new Set(replacedBy)
  const ordered = order.flatMap((index, place) => {
    const [hit, newest] = [compared[index], compared[replacedBy[index] ?? -1]]
    if (hit === undefined) return []
    const rule = covering.has(index) ? ('coverage' as const) : replacing.has(index) ? ('newer' as const) : null
    // A rule may confirm the place that a hit has already.
    const { score } = hit.document
    return [{ ...hit, score, supersededBy: newest?.row.messageId ?? null, rule: place < index ? rule : null }]
  })
  const rest = rows.slice(compared.length).map(unmoved)
  return descending([...ordered, ...rest])
}

/** Rules and a reranker move results, so each gets at least the score of the one after it. */
function descending(hits: readonly OrderedHit[]): OrderedHit[] {
  let score = 0
  const scored: OrderedHit[] = []
  for (const hit of [...hits].reverse()) {
    score = Math.max(score, hit.document.score)
    scored.push({ ...hit, score })
  }
  return scored.reverse()
}

function unmoved(row: Row): OrderedHit {
  return { ...row, score: row.document.score, supersededBy: null, rule: null }
}
