import type { Tx } from '../connection/connection.js'
import { messagesOf } from '../forks/lineage.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { AFTER_ALL_LETTERS } from '../sql/by-id.js'

/** More candidates than an error message can usefully list. */
const CANDIDATES_MAX = 20

/** The form of a code; any other text in a reference is a name. */
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

/** Threads in which a reference without one is searched, the newest first. */
export const THREADS_SEARCHED_MAX = 10_000

/** A message that a reference without a thread may mean. */
export interface PlacedCandidate {
  readonly thread: ThreadCandidate
  readonly message: MessageCandidate
}

/** The messages of the project whose short code begins so. Each thread is searched by its own index. */
export async function findMessagesInProject(
  tx: Tx,
  codePrefix: string,
): Promise<{ readonly candidates: readonly PlacedCandidate[]; readonly isComplete: boolean }> {
  const threads = await tx<ThreadCandidate[]>`
    select threads.id as thread_id, name, code
    from heddle.threads
    where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
    order by created_at desc
    limit ${THREADS_SEARCHED_MAX + 1}`
  const byId = new Map(threads.slice(0, THREADS_SEARCHED_MAX).map((thread) => [thread.threadId, thread]))
  const found = await tx<{ threadId: string }[]>`
    select thread_id
    from unnest(${asArray(byId.keys())}::uuid[]) as given (thread_id)
    where exists (
      select from heddle.messages
      where messages.thread_id = given.thread_id
        and code >= ${codePrefix} and code < ${codePrefix + AFTER_ALL_LETTERS}
      offset 0)
    limit ${CANDIDATES_MAX}`
  const candidates: PlacedCandidate[] = []
  for (const { threadId } of found) {
    const thread = byId.get(threadId)
    if (thread === undefined) continue
    for (const message of await findMessagesByCode(tx, threadId, codePrefix)) candidates.push({ thread, message })
  }
  return { candidates: candidates.slice(0, CANDIDATES_MAX), isComplete: threads.length <= THREADS_SEARCHED_MAX }
}

export type MessageCandidate = Columns<'messages', 'id' | 'seq' | 'code' | 'role'>

/**
 * The messages of a thread whose short code begins so, an exact match first. Their contents are not read. The code of a mark
 * that a restore left leads to the message that it brings back.
 */
export async function findMessagesByCode(tx: Tx, threadId: string, codePrefix: string): Promise<MessageCandidate[]> {
  const found = await tx<(MessageCandidate & Columns<'messages', 'restoresSeq'>)[]>`
    select id, seq, code, role, restores_seq
    from ${messagesOf(tx, threadId)} as message
    where code >= ${codePrefix} and code < ${codePrefix + AFTER_ALL_LETTERS}
    order by code
    limit ${CANDIDATES_MAX}`
  const marked = found.flatMap(({ code, restoresSeq }) => (restoresSeq === null ? [] : [{ code, seq: restoresSeq }]))
  if (marked.length === 0) return [...found]
  const originals = await tx<MessageCandidate[]>`
    select id, seq, code, role from ${messagesOf(tx, threadId)} as message
    where seq = any(${asArray(marked.map(({ seq }) => seq))}::bigint[])`
  const bySeq = new Map(originals.map((original) => [original.seq, original]))
  const candidates = found.flatMap(({ restoresSeq, ...candidate }) => {
    const original = restoresSeq === null ? candidate : bySeq.get(restoresSeq)
    // The whole code of a mark is an exact match of its message.
    return original === undefined ? [] : [candidate.code === codePrefix ? { ...original, code: codePrefix } : original]
  })
  return [...new Map(candidates.map((candidate) => [candidate.seq, candidate])).values()]
}
