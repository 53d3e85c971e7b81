import type { Tx } from '../connection/connection.js'
import type { ThreadRow } from '../threads/threads.js'
import { messagesOf, type SharedRun } from './lineage.js'

type ComparedThread = Pick<ThreadRow, 'threadId' | 'headSeq' | 'baseSeq' | 'sharedSeq' | 'sharedRuns'>

export interface ThreadComparison {
  /** The last message that both have; 0 if they share no message. */
  readonly commonSeq: number
  /** Its short code; null without one. */
  readonly code: string | null
  /** The messages up to it. */
  readonly common: number
  /** The messages after it, in the one thread and in the other. Marks that restores left do not count. */
  readonly after: readonly [number, number]
}

/** How far two threads have the same messages, which is no more than what forks share: copies are not compared. */
export async function compareThreads(tx: Tx, one: ComparedThread, other: ComparedThread): Promise<ThreadComparison> {
  const commonSeq = commonOf(rowsOf(one), rowsOf(other))
  const [at, common, ...after] = await Promise.all([
    tx<{ code: string }[]>`select code from ${messagesOf(tx, one.threadId)} as message where seq = ${commonSeq}`,
    commonSeq === 0 ? 0 : countBetween(tx, one, one.baseSeq, commonSeq),
    countBetween(tx, one, Math.max(commonSeq, one.baseSeq), one.headSeq),
    countBetween(tx, other, Math.max(commonSeq, other.baseSeq), other.headSeq),
  ])
  return { commonSeq, code: at[0]?.code ?? null, common, after }
}

/** Where the messages of a thread are stored. */
function rowsOf({ threadId, sharedRuns, sharedSeq, baseSeq, headSeq }: ComparedThread): readonly SharedRun[] {
  return [...sharedRuns, { originId: threadId, afterSeq: Math.max(sharedSeq, baseSeq), toSeq: headSeq }]
}

function commonOf(one: readonly SharedRun[], other: readonly SharedRun[]): number {
  let common = 0
  for (const [place, run] of one.entries()) {
    const same = other[place]
    if (same?.originId !== run.originId || same.afterSeq !== run.afterSeq) break
    common = Math.max(common, Math.min(run.toSeq, same.toSeq))
    if (run.toSeq !== same.toSeq) break
  }
  return common
}

/** Marks are few and have an index: the others follow from the numbers, which have no gaps. */
async function countBetween(tx: Tx, { threadId }: ComparedThread, afterSeq: number, toSeq: number): Promise<number> {
  const [row] = await tx<{ marks: number }[]>`
    select count(*)::integer as marks from ${messagesOf(tx, threadId)} as mark
    where mark.restores_seq is not null and mark.seq > ${afterSeq} and mark.seq <= ${toSeq}`
  return toSeq - afterSeq - (row?.marks ?? 0)
}
