import type { Pausable } from '../../recall/steps.js'
import { cosines, type VectorBlock, type VectorQuery } from './vector-block.js'

/** A message by the number of its thread and its `seq`, with the cosine of its nearest chunk. */
export interface NearDocument {
  readonly thread: number
  readonly seq: number
  readonly cosine: number
}

export interface NearestQuery {
  readonly query: VectorQuery
  readonly blocks: Iterable<readonly [thread: number, block: VectorBlock]>
  /** Whether a message may be a result; called only for messages that are near enough. */
  readonly isWanted: (thread: number, seq: number) => boolean
  readonly limit: number
}

/** Rows compared between two yields: less than a millisecond. */
const ROWS_PER_STEP = 2_048
/** Candidates are thinned out when there are this many times as many as are wanted. */
const SLACK = 4
const SLACK_LEAST = 1_000

/** The messages with the nearest vectors, nearest first: exact, by one pass over all vectors. */
export function* nearestDocuments({ query, blocks, isWanted, limit }: NearestQuery): Pausable<NearDocument[]> {
  const out = new Float32Array(ROWS_PER_STEP)
  let found: NearDocument[] = []
  let least = Number.NEGATIVE_INFINITY
  let sinceStep = 0
  for (const [thread, block] of blocks) {
    const { count } = block
    for (let from = 0; from < count; from += ROWS_PER_STEP) {
      const to = Math.min(count, from + ROWS_PER_STEP)
      cosines(query, block, { from, to, out })
      for (let row = from; row < to; row++) {
        const cosine = out[row - from] as number
        if (cosine < least) continue
        const seq = block.seqs[row] as number
        if (isWanted(thread, seq)) found.push({ thread, seq, cosine })
      }
      if (found.length > SLACK * limit + SLACK_LEAST) {
        found = best(found, limit)
        if (found.length === limit) least = found.at(-1)?.cosine ?? least
      }
      sinceStep += to - from
      if (sinceStep < ROWS_PER_STEP) continue
      sinceStep = 0
      yield
    }
  }
  return best(found, limit)
}

/** Each message once, by its nearest chunk. The same messages give the same order. */
function best(found: readonly NearDocument[], limit: number): NearDocument[] {
  const order = [...found].sort(
    (left, right) => right.cosine - left.cosine || right.thread - left.thread || right.seq - left.seq,
  )
  const seen = new Set<string>()
  const kept: NearDocument[] = []
  for (const document of order) {
    const key = `${document.thread} ${document.seq}`
    if (seen.has(key)) continue
    seen.add(key)
    kept.push(document)
    if (kept.length === limit) break
  }
  return kept
}
