import { createHash } from 'node:crypto'
import { likeQuery, type Selection } from '@heddle/core'
import type { ItemRow } from '@heddle/store'
import { LRUCache } from 'lru-cache'

/** Selections that are kept, each of a few bytes for each candidate. */
const SELECTIONS_MAX = 500
/** Larger lists of candidates are not kept: 500 of them would take a hundred megabytes. */
const CANDIDATES_MAX = 1_000

export interface SelectionQuery {
  readonly projectId: string
  /** The embedding model. */
  readonly model: string
  readonly query: string
  readonly limits: object
  readonly candidates: readonly ItemRow[]
}

interface KeptSelection {
  readonly selected: readonly { readonly itemId: string; readonly score: number }[]
  readonly leftOut: readonly { readonly itemId: string; readonly score: number | null; readonly reason: string }[]
}

/**
 * Selections of items, reused for like queries: the same words in the same order, whatever their case, spaces and closing
 * punctuation. A changed item, model or parameter is another selection, so nothing has to be invalidated.
 */
export class SelectionCache {
  readonly #kept = new LRUCache<string, KeptSelection>({ max: SELECTIONS_MAX })
  /** Since the process started. */
  reusedCount = 0
  madeCount = 0

  async find(
    query: SelectionQuery,
    select: (query: string) => Promise<Selection<ItemRow>>,
  ): Promise<Selection<ItemRow>> {
    const like = likeQuery(query.query)
    const key = keyOf(query, like)
    const kept = this.#kept.get(key)
    if (kept !== undefined) {
      this.reusedCount++
      return withItems(kept, query.candidates)
    }
    // The common form is what is selected by, so that a context does not depend on the queries before it.
    const selection = await select(like)
    this.madeCount++
    if (query.candidates.length <= CANDIDATES_MAX) this.#kept.set(key, withoutItems(selection))
    return selection
  }
}

function keyOf({ projectId, model, limits, candidates }: SelectionQuery, like: string): string {
  const hash = createHash('sha256').update(JSON.stringify([projectId, model, limits, like]))
  for (const { itemId, version } of candidates) hash.update(`${itemId}${version} `)
  return hash.digest('base64')
}

function withoutItems({ selected, leftOut }: Selection<ItemRow>): KeptSelection {
  return {
    selected: selected.map(({ item: { itemId }, score }) => ({ itemId, score })),
    leftOut: leftOut.map(({ item: { itemId }, ...rest }) => ({ itemId, ...rest })),
  }
}

function withItems({ selected, leftOut }: KeptSelection, candidates: readonly ItemRow[]): Selection<ItemRow> {
  const byId = new Map(candidates.map((item) => [item.itemId, item]))
  const itemOf = <Kept extends { readonly itemId: string }>({ itemId, ...rest }: Kept) => {
    const item = byId.get(itemId)
    return item === undefined ? [] : [{ item, ...rest }]
  }
  return { selected: selected.flatMap(itemOf), leftOut: leftOut.flatMap(itemOf) }
}
