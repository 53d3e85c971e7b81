import type { Tx } from '../connection/connection.js'
import { loadSharedRuns, someMessagesOf } from '../forks/lineage.js'

/** Estimated tokens of messages. */
export interface EstimatedSize {
  readonly tokens: number
  /** Of the largest message. */
  readonly largest: number
}

/** The size of the next messages in the order of storing, without reading their contents, which may have megabytes. */
export async function estimateNext(
  tx: Tx,
  { threadId, afterSeq, limit }: { threadId: string; afterSeq: number; limit: number },
): Promise<EstimatedSize> {
  await loadSharedRuns(tx, threadId)
  const part = tx`and message.seq > ${afterSeq} order by message.seq limit ${limit}`
  const [size] = await tx<EstimatedSize[]>`
    select coalesce(sum(tokens_estimate), 0)::float8 as tokens, coalesce(max(tokens_estimate), 0) as largest
    from (
      select message.tokens_estimate from ${someMessagesOf(tx, threadId, part)} as message where true ${part}) as next`
  return size ?? { tokens: 0, largest: 0 }
}
