import { packPlaces, unpackPlaces } from '@heddle/core'
import type { Tx } from '../../connection/connection.js'
import type { Columns } from '../../schema/rows.js'
import { asArray } from '../../sql/arrays.js'
import type { MessageTaker } from './message-step.js'

/**
 * Removes the vectors of messages: those of a chunk follow from its text. Rows hold the vectors of many chunks, so a row is
 * written again without them. Vectors that are made from the texts are not stored.
 */
export const takeVectors: MessageTaker = async (tx, { threadId, seqs, fromSeq }) => {
  const rows = await tx<Columns<'vectors', 'model' | 'firstChunk' | 'chunks' | 'places' | 'embedding'>[]>`
    select model, first_chunk, chunks, places, embedding from heddle.vectors
    where thread_id = ${threadId} and to_seq >= ${fromSeq}::bigint
    for update`
  let vectors = 0
  for (const row of rows) {
    const places = unpackPlaces(row.places)
    const kept = places.flatMap((place, index) => (seqs.has(place.seq) ? [] : [{ place, index }]))
    const gone = places.length - kept.length
    if (gone === 0) continue
    vectors += gone
    const isThis = tx`thread_id = ${threadId} and model = ${row.model} and first_chunk = ${row.firstChunk}`
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
      where thread_id = ${threadId} and model = ${row.model}`
  }
  return { vectors, vector_points: await takePoints(tx, threadId, asArray(seqs)) }
}

/** The single vectors, if the server has pgvector. */
async function takePoints(tx: Tx, threadId: string, seqs: string): Promise<number> {
  const [table] = await tx<{ found: boolean }[]>`select to_regclass('heddle.vector_points') is not null as found`
  if (table?.found !== true) return 0
  const { count } = await tx`
    delete from heddle.vector_points where thread_id = ${threadId} and seq = any(${seqs}::bigint[])`
  return count
}
