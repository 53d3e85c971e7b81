import { notFound } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { formatTime } from '../connection/times.js'
import { asArray } from '../sql/arrays.js'
import { assertStorable, isStorable } from '../sql/text.js'
import { type KnownIteration, type PreparedIteration, planIterations } from './iteration-plan.js'

/**
 * Appends iterations to a thread, all of them or none. Exact repeats are ignored.
 *
 * Invariant: the thread's row is locked, so that of two concurrent appends the second sees the numbers of the first.
 *
 * @param firstIndex the position of the first iteration in the caller's list, for errors
 * @returns the number of each iteration, in their order, and how many were new
 * @throws ConflictError if an id or a number is used
 * @throws PermanentError `NOT_FOUND` if the thread was erased meanwhile
 */
export async function appendIterations(
  tx: Tx,
  {
    threadId,
    iterations,
    firstIndex = 0,
  }: { threadId: string; iterations: readonly PreparedIteration[]; firstIndex?: number },
): Promise<{ numbers: readonly number[]; stored: number }> {
  for (const [index, { input }] of iterations.entries()) {
    assertStorable(`iterations.${firstIndex + index}.cliUsed`, input.cliUsed)
    assertStorable(`iterations.${firstIndex + index}.modelUsed`, input.modelUsed)
  }
  const ids = iterations.map(({ input }) => input.id)
  const given = iterations.flatMap(({ input: { iterationNumber } }) => iterationNumber ?? [])
  const [[locked], known, [head]] = await Promise.all([
    tx`select 1 from heddle.threads where id = ${threadId} for no key update`,
    // Lateral with an offset: one index look-up for each id and each number, however many iterations the thread has.
    tx<KnownIteration[]>`
      select found.id, found.number, encode(found.fingerprint, 'hex') as fingerprint
      from unnest(${asArray(ids)}::uuid[]) as given (id)
      cross join lateral (
        select id, number, fingerprint from heddle.iterations
        where thread_id = ${threadId} and iterations.id = given.id
        offset 0) as found
      union
      select found.id, found.number, encode(found.fingerprint, 'hex') as fingerprint
      from unnest(${asArray(given.map(String))}::integer[]) as given (number)
      cross join lateral (
        select id, number, fingerprint from heddle.iterations
        where thread_id = ${threadId} and iterations.number = given.number
        offset 0) as found`,
    tx<{ highest: number }[]>`
      select coalesce(max(number), 0) as highest from heddle.iterations where thread_id = ${threadId}`,
  ])
  if (locked === undefined) throw notFound('thread', threadId, 'it was erased meanwhile; use another name')
  const plan = planIterations(iterations, { known, highest: head?.highest ?? 0, firstIndex })
  if (plan.fresh.length > 0) {
    const rows = plan.fresh.map(toRow)
    await tx`
      insert into heddle.iterations (
        thread_id, number, id, happened_at, cli_used, model_used, prompt, output, texts_escaped, progress_score,
        progress_markers, file_changes, file_events, duration_seconds, fingerprint)
      select
        ${threadId}, number, id, happened_at, cli_used, model_used, prompt, output, texts_escaped, progress_score,
        progress_markers::json, file_changes::json, file_events::json, duration_seconds, decode(fingerprint, 'hex')
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as iteration (
        number integer, id uuid, happened_at timestamptz, cli_used text, model_used text, prompt text, output text,
        texts_escaped boolean, progress_score double precision, progress_markers text, file_changes text,
        file_events text, duration_seconds double precision, fingerprint text)`
    await tx`
      update heddle.stage_cursors set iteration_count = iteration_count + ${plan.fresh.length} where thread_id = ${threadId}`
  }
  return { numbers: plan.numbers, stored: plan.fresh.length }
}

/** JSON columns are sent as text, so that they are stored unchanged. */
function toRow({ input, number, happenedAtMs, fingerprint }: PreparedIteration & { number: number }): object {
  const escaped = !isStorable(input.prompt) || !isStorable(input.output)
  return {
    number,
    id: input.id,
    happened_at: formatTime(happenedAtMs),
    cli_used: input.cliUsed,
    model_used: input.modelUsed,
    prompt: escaped ? JSON.stringify(input.prompt) : input.prompt,
    output: escaped ? JSON.stringify(input.output) : input.output,
    texts_escaped: escaped,
    progress_score: input.progressScore,
    progress_markers: JSON.stringify(input.progressMarkers ?? []),
    file_changes: JSON.stringify(input.fileChanges ?? []),
    file_events: JSON.stringify(input.fileEvents ?? []),
    duration_seconds: input.durationSeconds,
    fingerprint,
  }
}
