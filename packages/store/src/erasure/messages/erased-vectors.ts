import { packPlaces, unpackPlaces } from '@heddle/core'
import type { Tx } from '../../connection/connection.js'
import type { Columns } from '../../schema/rows.js'
import { asArray } from '../../sql/arrays.js'
import type { MessageTaker } from './message-step.js'

type Row = Columns<'vectors', 'model' | 'firstChunk' | 'places' | 'embedding'>
type Key = Pick<Row, 'model' | 'firstChunk'>

/** Rows that are written again in one step: each has the vectors of many chunks, which are megabytes. */
const VECTOR_ROWS_PER_STEP = 20
/** Places are small, and are read without the vectors. */
const PLACES_PER_PAGE = 1_000

/**
 * Removes the vectors of messages: those of a chunk follow from its text. Rows hold the vectors of many chunks, so a row is
 * written again without them. Vectors that are made from the texts are not stored.
 */
export const takeVectors: MessageTaker = async (tx, { threadId, seqs, fromSeq }) => {
  const points = await takePoints(tx, threadId, asArray(seqs))
  for (;;) {
    const keys = await findRows(tx, threadId, { seqs, fromSeq })
    let vectors = 0
    for (const key of keys) vectors += await takeFrom(tx, threadId, key, seqs)
    // Rows that were merged meanwhile are found under another key.
    if (vectors > 0 || keys.length === 0) return { vectors, vector_points: points }
  }
}

/** The first rows that have vectors of the messages. */
async function findRows(
  tx: Tx,
  threadId: string,
  { seqs, fromSeq }: { readonly seqs: ReadonlySet<number>; readonly fromSeq: number },
): Promise<Key[]> {
  const found: Key[] = []
  let after: Key = { model: '', firstChunk: -1 }
  for (;;) {
    const page = await tx<(Key & Pick<Row, 'places'>)[]>`
      select model, first_chunk, places from heddle.vectors
      where thread_id = ${threadId} and to_seq >= ${fromSeq}::bigint
        and (model, first_chunk) > (${after.model}, ${after.firstChunk}::integer)
      order by model, first_chunk
      limit ${PLACES_PER_PAGE}`
    for (const row of page) {
      if (unpackPlaces(row.places).some(({ seq }) => seqs.has(seq))) found.push(row)
      if (found.length >= VECTOR_ROWS_PER_STEP) return found
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PLACES_PER_PAGE) return found
    after = last
  }
}

/** @returns the number of vectors removed from a row; 0 if it is gone */
async function takeFrom(tx: Tx, threadId: string, key: Key, seqs: ReadonlySet<number>): Promise<number> {
  const isThis = tx`thread_id = ${threadId} and model = ${key.model} and first_chunk = ${key.firstChunk}`
  const [row] = await tx<Pick<Row, 'places' | 'embedding'>[]>`
    select places, embedding from heddle.vectors where ${isThis} for update`
  if (row === undefined) return 0
  const places = unpackPlaces(row.places)
  const kept = places.flatMap((place, index) => (seqs.has(place.seq) ? [] : [{ place, index }]))
  const gone = places.length - kept.length
  if (gone === 0) return 0
  const bytes = row.embedding.length / places.length
  const embedding = kept.map(({ index }) => row.embedding.subarray(index * bytes, (index + 1) * bytes))
  await (kept.length === 0
    ? tx`delete from heddle.vectors where ${isThis}`
    : tx`
        update heddle.vectors
        set
          chunks = ${kept.length}, places = ${packPlaces(kept.map(({ place }) => place))},
          embedding = ${Buffer.concat(embedding)}
        where ${isThis}`)
  await tx`
    update heddle.vector_threads set chunks = greatest(0, chunks - ${gone})
    where thread_id = ${threadId} and model = ${key.model}`
  return gone
}

/** The single vectors, if the server has pgvector. */
async function takePoints(tx: Tx, threadId: string, seqs: string): Promise<number> {
  const [table] = await tx<{ found: boolean }[]>`select to_regclass('heddle.vector_points') is not null as found`
  if (table?.found !== true) return 0
  const { count } = await tx`
    delete from heddle.vector_points where thread_id = ${threadId} and seq = any(${seqs}::bigint[])`
  return count
}
