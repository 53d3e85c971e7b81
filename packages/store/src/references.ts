import type { Tx } from './connection.js'

/** More candidates than an error message can usefully list. */
const CANDIDATES_MAX = 20

/** Sorts after every letter and digit of a code: the codes with a prefix are those up to the prefix with this. */
const AFTER_ALL_LETTERS = '~'

/** What a code may be; anything else that a reference holds is a name. */
const CODE = /^[0-9a-z]{1,52}$/

export interface ThreadCandidate {
  readonly threadId: string
  readonly name: string
  readonly code: string
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

export interface MessageCandidate {
  readonly id: string
  readonly seq: number
  readonly code: string
  readonly role: string
}

/** The messages of a thread whose short code begins so, an exact match first. Their contents are not read. */
export async function findMessagesByCode(tx: Tx, threadId: string, codePrefix: string): Promise<MessageCandidate[]> {
  return await tx<MessageCandidate[]>`
    select id, seq, code, role
    from heddle.messages
    where thread_id = ${threadId} and code >= ${codePrefix} and code < ${codePrefix + AFTER_ALL_LETTERS}
    order by code
    limit ${CANDIDATES_MAX}`
}
