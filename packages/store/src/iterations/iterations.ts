import type { Tx } from '../connection/connection.js'
import { formatTime } from '../connection/times.js'
import type { NamedAppend, PlannedMessage, PreparedMessage } from '../messages/append-plan.js'
import { asArray } from '../sql/arrays.js'
import { isStorable } from '../sql/text.js'
import type { KnownIteration } from './iteration-plan.js'
import { joinMessage } from './iteration-reading.js'

/** A stored iteration with one of some ids. */
export interface StoredNumber extends KnownIteration {
  /** Of an iteration without a message, which versions before messages of iterations stored; else null. */
  readonly fingerprint: string | null
}

/** The stored iterations of a thread that concern some appends. */
export interface LookedUpIterations {
  readonly known: readonly StoredNumber[]
  readonly highest: number
}

/**
 * The stored iterations with the ids and the numbers of those in a batch, whose threads are locked. No query without
 * iterations in it.
 */
export async function lookUpIterations(
  tx: Tx,
  appends: readonly NamedAppend[],
): Promise<ReadonlyMap<string, LookedUpIterations>> {
  const given = appends.flatMap(({ threadId, messages }) =>
    messages.flatMap(({ input, iteration }) => (iteration ? [{ threadId, id: input.id, ...iteration }] : [])),
  )
  if (given.length === 0) return new Map()
  const numbered = given.filter(({ iterationNumber }) => iterationNumber !== undefined)
  const threadIds = [...new Set(given.map(({ threadId }) => threadId))]
  // Lateral with an offset: one index look-up for each id and each number, however many iterations the thread has.
  const [known, highest] = await Promise.all([
    tx<(StoredNumber & { threadId: string })[]>`
      select given.thread_id, found.id, found.number, encode(found.fingerprint, 'hex') as fingerprint
      from unnest(
        ${asArray(given.map(({ threadId }) => threadId))}::uuid[], ${asArray(given.map(({ id }) => id))}::uuid[]
      ) as given (thread_id, id)
      cross join lateral (
        select id, number, fingerprint from heddle.iterations
        where iterations.thread_id = given.thread_id and iterations.id = given.id
        offset 0) as found
      union
      select given.thread_id, found.id, found.number, encode(found.fingerprint, 'hex') as fingerprint
      from unnest(
        ${asArray(numbered.map(({ threadId }) => threadId))}::uuid[],
        ${asArray(numbered.map(({ iterationNumber = 0 }) => iterationNumber))}::integer[]
      ) as given (thread_id, number)
      cross join lateral (
        select id, number, fingerprint from heddle.iterations
        where iterations.thread_id = given.thread_id and iterations.number = given.number
        offset 0) as found`,
    tx<{ threadId: string; highest: number }[]>`
      select given.thread_id, coalesce(newest.number, 0) as highest
      from unnest(${asArray(threadIds)}::uuid[]) as given (thread_id)
      left join lateral (
        select number from heddle.iterations
        where iterations.thread_id = given.thread_id
        order by number desc
        limit 1) as newest on true`,
  ])
  return new Map(
    highest.map(({ threadId, highest }) => [
      threadId,
      { highest, known: known.filter((row) => row.threadId === threadId) },
    ]),
  )
}

interface StoredIterationKey {
  readonly number: number
  readonly fingerprint: string
  /** Whether its texts were erased: then anything under its id is a repeat. */
  readonly isErased: boolean
}

/** The stored iterations of a thread with some ids, by id. */
export async function storedIterations(
  tx: Tx,
  { threadId, ids }: { readonly threadId: string; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, StoredIterationKey>> {
  const rows = await tx<(KnownIteration & StoredIterationKey)[]>`
    select iteration.id, iteration.number,
      encode(coalesce(iteration.fingerprint, message.fingerprint), 'hex') as fingerprint,
      coalesce(message.kept_aside = 'erased', false) as is_erased
    from unnest(${asArray(ids)}::uuid[]) as given (id)
    cross join lateral (
      select * from heddle.iterations
      where iterations.thread_id = ${threadId} and iterations.id = given.id
      offset 0) as iteration
    ${joinMessage(tx)}`
  return new Map(rows.map(({ id, ...stored }) => [id, stored]))
}

/** A new iteration with its number and that of its message. */
export interface PlannedIteration extends Pick<PlannedMessage, 'threadId' | 'seq'> {
  readonly number: number
  readonly message: PreparedMessage & { readonly iteration: NonNullable<PreparedMessage['iteration']> }
}

/**
 * Inserts iterations whose messages are inserted in the same transaction, and counts them in their threads. One statement,
 * since the transaction may commit behind it.
 */
export async function insertIterations(tx: Tx, iterations: readonly PlannedIteration[]): Promise<void> {
  // JSON columns are sent as text, so that they are stored unchanged.
  await tx`
    with inserted as (
      insert into heddle.iterations (
        thread_id, number, id, seq, happened_at, cli_used, model_used, prompt, texts_escaped, progress_score,
        progress_markers, file_changes, file_events, duration_seconds)
      select
        thread_id, number, id, seq, happened_at, cli_used, model_used, prompt, texts_escaped, progress_score,
        progress_markers::json, file_changes::json, file_events::json, duration_seconds
      from json_to_recordset(${JSON.stringify(iterations.map(toRow))}::text::json) as iteration (
        thread_id uuid, number integer, id uuid, seq bigint, happened_at timestamptz, cli_used text, model_used text,
        prompt text, texts_escaped boolean, progress_score double precision, progress_markers text, file_changes text,
        file_events text, duration_seconds double precision)
      returning thread_id
    )
    update heddle.stage_cursors as cursor set iteration_count = cursor.iteration_count + added.count
    from (select thread_id, count(*)::integer as count from inserted group by thread_id) as added
    where cursor.thread_id = added.thread_id`
}

function toRow({ threadId, seq, number, message }: PlannedIteration): object {
  const { input, iteration, orderedAtMs } = message
  const isEscaped = !isStorable(iteration.prompt)
  return {
    thread_id: threadId,
    number,
    id: input.id,
    seq,
    happened_at: formatTime(input.sentAt === undefined ? orderedAtMs : Date.parse(input.sentAt)),
    cli_used: iteration.cliUsed,
    model_used: iteration.modelUsed,
    prompt: isEscaped ? JSON.stringify(iteration.prompt) : iteration.prompt,
    texts_escaped: isEscaped,
    progress_score: iteration.progressScore,
    progress_markers: JSON.stringify(iteration.progressMarkers ?? []),
    file_changes: JSON.stringify(iteration.fileChanges ?? []),
    file_events: JSON.stringify(iteration.fileEvents ?? []),
    duration_seconds: iteration.durationSeconds,
  }
}
