import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { AFTER_ALL_LETTERS } from '../sql/by-id.js'

/** More candidates than an error message can usefully list. */
const CANDIDATES_MAX = 20

/** What a code may be; anything else that a reference holds is a name. */
const CODE = /^[0-9a-z]{1,52}$/

export interface ThreadCandidate extends Columns<'threads', 'name' | 'code'> {
  readonly threadId: string
}

/**
 * The threads that a reference may mean: the one of an id, and those of the project whose short code begins so, an exact
 * match first.
 */
export async function findThreads(
  tx: Tx,
  { threadId, codePrefix }: { threadId: string; codePrefix: string },
): Promise<ThreadCandidate[]> {
  const [byId, byCode] = await Promise.all([
    tx<ThreadCandidate[]>`select id as thread_id, name, code from heddle.threads where id = ${threadId}`,
    !CODE.test(codePrefix)
      ? []
      : tx<ThreadCandidate[]>`
          select id as thread_id, name, code
          from heddle.threads
          where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
            and code >= ${codePrefix} and code < ${codePrefix + AFTER_ALL_LETTERS}
          order by code
          limit ${CANDIDATES_MAX}`,
  ])
  return [...byId, ...byCode.filter((candidate) => candidate.threadId !== byId[0]?.threadId)]
}

export type MessageCandidate = Columns<'messages', 'id' | 'seq' | 'code' | 'role'>

/**
 * The messages of a thread whose short code begins so, an exact match first. Their contents are not read. The code of a mark
 * that a restore left leads to the message that it brings back.
 */
export async function findMessagesByCode(tx: Tx, threadId: string, codePrefix: string): Promise<MessageCandidate[]> {
  const found = await tx<(MessageCandidate & Columns<'messages', 'restoresSeq'>)[]>`
    select id, seq, code, role, restores_seq
    from heddle.messages
    where thread_id = ${threadId} and code >= ${codePrefix} and code < ${codePrefix + AFTER_ALL_LETTERS}
    order by code
    limit ${CANDIDATES_MAX}`
  const marked = found.flatMap(({ code, restoresSeq }) => (restoresSeq === null ? [] : [{ code, seq: restoresSeq }]))
  if (marked.length === 0) return [...found]
  const originals = await tx<MessageCandidate[]>`
    select id, seq, code, role from heddle.messages
    where thread_id = ${threadId} and seq = any(${asArray(marked.map(({ seq }) => seq))}::bigint[])`
  const bySeq = new Map(originals.map((original) => [original.seq, original]))
  const candidates = found.flatMap(({ restoresSeq, ...candidate }) => {
    const original = restoresSeq === null ? candidate : bySeq.get(restoresSeq)
    // Whoever gave the whole code of a mark means its message: an exact match stays one.
    return original === undefined ? [] : [candidate.code === codePrefix ? { ...original, code: codePrefix } : original]
  })
  return [...new Map(candidates.map((candidate) => [candidate.seq, candidate])).values()]
}
