import { asArray } from './arrays.js'
import type { Tx } from './connection.js'

export interface Chunk {
  /** The range of the source's text that was embedded, in characters. */
  readonly from: number
  readonly to: number
  /** One signed byte a dimension. */
  readonly embedding: Int8Array
}

export interface ChunkedSource {
  readonly sourceId: string
  readonly sourceKind: 'message' | 'archive' | 'item'
  readonly agentId: string
  /** Null for items, which belong to an agent. */
  readonly threadId: string | null
  /** Hash of the text that was embedded. */
  readonly contentHash: Uint8Array
  readonly chunks: readonly Chunk[]
}

/** Puts the chunks of some sources in place of those that were there, for one model; those of other models stay. */
export async function replaceChunks(
  tx: Tx,
  { model, sources }: { model: string; sources: readonly ChunkedSource[] },
): Promise<void> {
  if (sources.length === 0) return
  const rows = sources.flatMap((source) =>
    source.chunks.map(({ from, to, embedding }, index) => ({
      source_id: source.sourceId,
      chunk_index: index,
      source_kind: source.sourceKind,
      agent_id: source.agentId,
      thread_id: source.threadId,
      content_hash: hex(source.contentHash),
      from_character: from,
      to_character: to,
      embedding: hex(embedding),
    })),
  )
  const sourceIds = sources.map(({ sourceId }) => sourceId)
  const threadIds = sources.map(({ threadId }) => threadId ?? 'null')
  await Promise.all([
    tx`
      delete from heddle.chunks
      using unnest(${asArray(sourceIds)}::uuid[], ${asArray(threadIds)}::uuid[]) as source (id, thread_id)
      where chunks.source_id = source.id and chunks.thread_id is not distinct from source.thread_id
        and chunks.model = ${model}`,
    // A conflict can only be with another worker that embeds the same text at this moment.
    tx`
      insert into heddle.chunks (
        source_id, model, chunk_index, source_kind, agent_id, thread_id, content_hash, from_character, to_character,
        embedding)
      select
        source_id, ${model}, chunk_index, source_kind, agent_id, thread_id, decode(content_hash, 'hex'),
        from_character, to_character, decode(embedding, 'hex')
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as chunk (
        source_id uuid, chunk_index integer, source_kind text, agent_id uuid, thread_id uuid, content_hash text,
        from_character integer, to_character integer, embedding text)
      order by source_id, chunk_index
      on conflict (project_id, source_id, thread_id, model, chunk_index) do update set
        content_hash = excluded.content_hash, from_character = excluded.from_character,
        to_character = excluded.to_character, embedding = excluded.embedding`,
  ])
}

/** The hash of the text that each source of a thread was last embedded from; sources without chunks are left out. */
export async function loadChunkHashes(
  tx: Tx,
  { model, threadId, sourceIds }: { model: string; threadId: string; sourceIds: readonly string[] },
): Promise<Map<string, Uint8Array>> {
  const rows = await tx<{ sourceId: string; contentHash: Uint8Array }[]>`
    select source_id, content_hash
    from heddle.chunks
    where source_id = any(${asArray(sourceIds)}::uuid[]) and thread_id = ${threadId} and model = ${model}
      and chunk_index = 0`
  return new Map(rows.map(({ sourceId, contentHash }) => [sourceId, contentHash]))
}

function hex(bytes: Uint8Array | Int8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
