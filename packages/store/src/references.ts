import type { Tx } from './connection.js'

/** More candidates than an error message can usefully list. */
const CANDIDATES_MAX = 20

/** Sorts after every letter and digit of a code: the codes with a prefix are those up to the prefix with this. */
const AFTER_ALL_LETTERS = '~'

/** The threads of the project whose short code begins so, an exact match first. More than one is an ambiguous reference. */
export async function findThreadsByCode(
  tx: Tx,
  codePrefix: string,
): Promise<{ threadId: string; name: string; code: string; agentName: string }[]> {
  return await tx<{ threadId: string; name: string; code: string; agentName: string }[]>`
    select thread.id as thread_id, thread.name, thread.code, agent.name as agent_name
    from heddle.threads as thread
    join heddle.agents as agent on agent.id = thread.agent_id
    where thread.project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
      and thread.code >= ${codePrefix} and thread.code < ${codePrefix + AFTER_ALL_LETTERS}
    order by thread.code
    limit ${CANDIDATES_MAX}`
}

/** The messages of a thread whose short code begins so, an exact match first. */
export async function findMessagesByCode(
  tx: Tx,
  threadId: string,
  codePrefix: string,
): Promise<{ id: string; seq: number; code: string; role: string }[]> {
  return await tx<{ id: string; seq: number; code: string; role: string }[]>`
    select id, seq, code, role
    from heddle.messages
    where thread_id = ${threadId} and code >= ${codePrefix} and code < ${codePrefix + AFTER_ALL_LETTERS}
    order by code
    limit ${CANDIDATES_MAX}`
}
