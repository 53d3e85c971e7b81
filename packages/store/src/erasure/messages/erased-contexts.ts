import type { ErrorData } from '@heddle/contracts'
import type { Tx } from '../../connection/connection.js'
import { asArray } from '../../sql/arrays.js'
import { ROWS_PER_STEP } from '../erasure-step.js'
import type { MessageTaker } from './message-step.js'
import { pagesOf, TEXTS_PER_PAGE, textHash } from './message-texts.js'

/** The error of a context that was erased with a message that it showed. */
const CONTEXT_ERASED: ErrorData = {
  code: 'NOT_FOUND',
  detail: 'the context was erased together with messages of its thread that it was built from',
  field: 'context',
  hint: 'Build another context; the messages that were not erased are there.',
}

/** The error of a context that was erased with a memory block that another agent shared with its own. */
const BLOCKS_ERASED: ErrorData = {
  code: 'NOT_FOUND',
  detail: 'the context was erased together with an agent whose memory blocks it may have shown',
  field: 'context',
  hint: 'Build another context; its messages were not erased.',
}

/**
 * Contexts that may have shown a block of an agent: those with blocks that were built for agents which it has shared blocks
 * with, since it first did. Their rows stay for their retention and say so.
 *
 * @returns how many in this step; 0 once nothing is left
 */
export async function takeContextsWithBlocksOf(tx: Tx, agentId: string): Promise<number> {
  const found = await tx<{ id: string }[]>`
    select context.id
    from (
      select grantee_agent_id, min(created_at) as since from heddle.memory_block_grants
      where owner_id = ${agentId}
      group by grantee_agent_id) as granted
    join heddle.threads as thread on thread.agent_id = granted.grantee_agent_id
    join heddle.contexts as context on context.thread_id = thread.id
    where context.status = 'built' and context.built_at >= granted.since
      and (context.sections is null or context.sections::text like '%"block%')
    limit ${ROWS_PER_STEP}`
  return await failContexts(
    tx,
    found.map(({ id }) => id),
    BLOCKS_ERASED,
  )
}

/**
 * Contexts that showed one of the messages, or may have: those built from a thread that had them, and those of other threads
 * that recalled from it or showed it. Their rows stay for their retention and say so; nothing of what they showed is left.
 *
 * A context that was built after the erasure began saw nothing of the messages: see `finishContext`.
 */
export const takeContexts: MessageTaker = async (tx, { threadId, begunAtMs, fromSeq }) => {
  const isBefore = tx`context.status = 'built' and context.built_at <= ${begunAtMs + 1}::timestamptz`
  const found = await tx<{ id: string }[]>`
    select id from (
      select context.id from heddle.contexts as context
      where context.thread_id = ${threadId} and context.head_seq >= ${fromSeq}::bigint and ${isBefore}
      limit ${ROWS_PER_STEP}) as own
    union
    select id from (
      select context.id
      from heddle.context_mentions as mention
      join heddle.contexts as context on context.id = mention.context_id
      where mention.thread_id = ${threadId} and ${isBefore}
        and (context.sections is null or context.sections::text like '%"memories"%' or context.request::text like '%"scope":%')
      limit ${ROWS_PER_STEP}) as others`
  return {
    contexts: await failContexts(
      tx,
      found.map(({ id }) => id),
    ),
  }
}

/**
 * Erases requests whose new message is the text of a message that is being erased: it is usually appended after the context
 * that answered it.
 *
 * @param hashes of these texts: see `loadTextHashes`
 */
export async function failAskedFor(tx: Tx, threadId: string, hashes: ReadonlySet<string>): Promise<void> {
  if (hashes.size === 0) return
  const requests = await tx<{ id: string }[]>`
    select id from heddle.contexts where thread_id = ${threadId} and request::text like '%"message":%'`
  const found: string[] = []
  for (const page of pagesOf(requests, TEXTS_PER_PAGE)) {
    const asked = await tx<{ id: string; message: string | null }[]>`
      select id, substring(request::text from '"message":("(?:[^"\\\\]|\\\\.)*")') as message
      from heddle.contexts
      where id = any(${asArray(page.map(({ id }) => id))}::uuid[])`
    for (const { id, message } of asked) {
      if (message !== null && hashes.has(textHash(JSON.parse(message) as string))) found.push(id)
    }
  }
  await failContexts(tx, found)
}

/** @returns how many contexts lost what they showed, those that were stored as a difference to one of them included */
async function failContexts(tx: Tx, ids: readonly string[], error = CONTEXT_ERASED): Promise<number> {
  if (ids.length === 0) return 0
  const gone = await tx<{ id: string }[]>`
    with recursive gone as (
        select id, thread_id, chain_id from heddle.context_lines where id = any(${asArray(ids)}::uuid[])
      union
        select lines.id, lines.thread_id, lines.chain_id
        from gone
        join heddle.context_lines as lines
          on lines.thread_id = gone.thread_id and lines.chain_id = gone.chain_id and lines.base_id = gone.id
    )
    select id from gone`
  const all = asArray(new Set([...ids, ...gone.map(({ id }) => id)]))
  const isThis = tx`context_id = any(${all}::uuid[])`
  const [, , , failed] = await Promise.all([
    tx`delete from heddle.context_deliveries where ${isThis}`,
    tx`delete from heddle.context_mentions where ${isThis}`,
    removeLines(tx, all),
    tx`
      update heddle.contexts
      set
        status = 'failed', error = ${JSON.stringify(error)}::text::json, hidden = null, digest = null,
        element_digest = null, prepared_key = null, versions = null, sections = null, built_at = coalesce(built_at, now()),
        request = json_build_object('thread', (select name from heddle.threads where id = contexts.thread_id))
      where id = any(${all}::uuid[])`,
  ])
  return failed.count
}

/** Also lines of contexts that are gone, where no other context of their chain needs them. */
async function removeLines(tx: Tx, ids: string): Promise<void> {
  await tx`
    with removed as (
      delete from heddle.context_lines where id = any(${ids}::uuid[]) returning thread_id, chain_id
    )
    delete from heddle.context_lines as lines
    using removed
    where lines.thread_id = removed.thread_id and lines.chain_id = removed.chain_id and lines.id <> all (${ids}::uuid[])
      and not exists (
        select from heddle.context_lines as other
        join heddle.contexts as context on context.id = other.id
        where other.thread_id = removed.thread_id and other.chain_id = removed.chain_id and other.id <> all (${ids}::uuid[]))`
}
