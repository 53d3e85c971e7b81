import type { FileEvent } from '@heddle/contracts'
import { type Iteration, iterationCharacters } from '@heddle/core'
import type { Fragment } from 'postgres'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { byKey } from '../sql/index-order.js'

/** Bytes of all iterations of one page; a page has at least one. */
const PAGE_BYTES_MAX = 8_000_000
/** The newest iterations whose file events a loop shows. */
const LOOP_ITERATIONS_MAX = 50

export interface IterationQuery {
  readonly threadId: string
  /** The number of the last iteration of the previous page. */
  readonly afterNumber?: number | undefined
  readonly limit: number
  readonly order: 'asc' | 'desc'
}

/** A page of a thread's iterations by number, with their whole texts; a page of large iterations ends early. */
export async function listIterations(
  tx: Tx,
  { threadId, afterNumber, limit, order }: IterationQuery,
): Promise<{ iterations: Iteration[]; hasMore: boolean }> {
  const direction = order === 'asc' ? tx`asc` : tx`desc`
  const past = order === 'asc' ? tx`>` : tx`<`
  const rows = await tx<(StoredIteration & { found: number })[]>`
    select ${iterationColumns(tx, 'whole')}, sized.found
    from (
      select number, count(*) over () as found, row_number() over in_order as place,
        sum(bytes) over in_order - bytes as bytes_before
      from (
        select number, octet_length(prompt) + coalesce(octet_length(output), octet_length(message.content), 0)
          + octet_length(progress_markers::text) + octet_length(file_changes::text)
          + octet_length(file_events::text) as bytes
        from heddle.iterations as iteration
        ${joinMessage(tx)}
        where thread_id = ${threadId} and ${afterNumber === undefined ? tx`true` : tx`number ${past} ${afterNumber}`}
        order by number ${direction}
        limit ${limit + 1}
      ) as candidate
      window in_order as (order by number ${direction} rows unbounded preceding)
    ) as sized
    cross join lateral (
      select * from heddle.iterations
      where iterations.thread_id = ${threadId} and iterations.number = sized.number
      offset 0) as iteration
    ${joinMessage(tx)}
    where sized.place <= ${limit} and sized.bytes_before < ${PAGE_BYTES_MAX}
    order by sized.place`
  return { iterations: rows.map(toIteration), hasMore: rows.length < (rows[0]?.found ?? 0) }
}

/** Whether a thread has an iteration of that number. */
export async function hasIteration(
  tx: Tx,
  { threadId, number }: { readonly threadId: string; readonly number: number },
): Promise<boolean> {
  const rows = await tx`select 1 from heddle.iterations where thread_id = ${threadId} and number = ${number}`
  return rows.length > 0
}

/** The message with the output of `iteration`, as `message`; without one, its columns are null. */
export function joinMessage(tx: Tx) {
  return tx`
    left join lateral (
      select code, content, content_escaped, fingerprint, kept_aside from heddle.messages
      where messages.thread_id = iteration.thread_id
        and ${byKey(tx, tx`messages.seq`, tx`iteration.seq`)}) as message on true`
}

export type StoredIteration = Columns<
  'iterations',
  | 'id'
  | 'number'
  | 'happenedAtMs'
  | 'cliUsed'
  | 'modelUsed'
  | 'prompt'
  | 'textsEscaped'
  | 'progressScore'
  | 'progressMarkers'
  | 'fileChanges'
  | 'fileEvents'
  | 'durationSeconds'
> & {
  readonly output: string
  readonly outputEscaped: boolean
  /** The short code of its message; null without one. */
  readonly code: string | null
}

/** One character more than contexts show of a text, which shows that it was cut. */
const BEGINNING_CHARACTERS = iterationCharacters.outputMax + 1
/** A character takes at most six as a JSON escape. */
const ESCAPED_BEGINNING_CHARACTERS = 6 * BEGINNING_CHARACTERS + 1
/** The end of a long output, where agents summarize their results. */
const END_CHARACTERS = 10_000

/**
 * The columns of `iteration` and {@link joinMessage} for {@link toIteration}: with whole texts, with the beginnings that
 * contexts show, or also with the end of a long output. Only whole texts are unbounded.
 */
export function iterationColumns(tx: Tx, texts: 'whole' | 'beginnings' | 'ends') {
  const promptEscaped = tx`iteration.texts_escaped`
  const outputEscaped = tx`(
    case when iteration.output is null then coalesce(message.content_escaped, false) else iteration.texts_escaped end)`
  const wholeOutput = tx`coalesce(iteration.output, message.content, '')`
  const prompt = texts === 'whole' ? tx`iteration.prompt` : beginning(tx, tx`iteration.prompt`, promptEscaped)
  const output =
    texts === 'whole'
      ? wholeOutput
      : texts === 'beginnings'
        ? beginning(tx, wholeOutput, outputEscaped)
        : tx`
          case when ${outputEscaped} or length(${wholeOutput}) <= ${BEGINNING_CHARACTERS + END_CHARACTERS}::integer
          then ${beginning(tx, wholeOutput, outputEscaped, BEGINNING_CHARACTERS + END_CHARACTERS)}
          else left(${wholeOutput}, ${BEGINNING_CHARACTERS}::integer) || right(${wholeOutput}, ${END_CHARACTERS}::integer) end`
  return tx`
    iteration.id, iteration.number, iteration.happened_at as happened_at_ms, iteration.cli_used, iteration.model_used,
    ${prompt} as prompt, ${output} as output, iteration.texts_escaped, ${outputEscaped} as output_escaped, message.code,
    iteration.progress_score, iteration.progress_markers, iteration.file_changes, iteration.file_events,
    iteration.duration_seconds`
}

function beginning(tx: Tx, text: Fragment, isEscaped: Fragment, charactersMax = BEGINNING_CHARACTERS) {
  return tx`
    left(${text}, case when ${isEscaped} then ${ESCAPED_BEGINNING_CHARACTERS}::integer else ${charactersMax}::integer end)`
}

/** @param row further fields are dropped */
export function toIteration(row: StoredIteration): Iteration {
  const { id, number, happenedAtMs, cliUsed, modelUsed, progressScore, progressMarkers } = row
  const { fileChanges, fileEvents, durationSeconds, code } = row
  return {
    id,
    number,
    happenedAtMs,
    cliUsed,
    modelUsed,
    prompt: row.textsEscaped ? unescaped(row.prompt) : row.prompt,
    output: row.outputEscaped ? unescaped(row.output) : row.output,
    progressScore,
    progressMarkers,
    fileChanges,
    fileEvents,
    durationSeconds,
    code,
  }
}

/** A text of JSON escapes, or the beginning of one that was cut anywhere, also within an escape. */
function unescaped(text: string): string {
  if (text.length < ESCAPED_BEGINNING_CHARACTERS) return JSON.parse(text) as string
  for (let length = text.length; ; length--) {
    try {
      return JSON.parse(length === text.length && text.endsWith('"') ? text : `${text.slice(0, length)}"`) as string
    } catch (error) {
      // The longest escape has six characters.
      if (text.length - length > 6) throw error
    }
  }
}

/** The state of a run, derived from its iterations. */
export interface LoopOverview {
  readonly totalIterations: number
  readonly firstAtMs: number | null
  readonly lastCli: string | null
  readonly lastModel: string | null
  /** File events of the newest iterations, oldest first. */
  readonly fileEvents: readonly FileEvent[]
}

/** The number of a thread's iterations, the time of the first, and the file events of the newest. */
export async function overviewLoop(tx: Tx, { threadId }: { threadId: string }): Promise<LoopOverview> {
  const [[total], [first], newest] = await Promise.all([
    tx<{ count: number }[]>`select count(*) as count from heddle.iterations where thread_id = ${threadId}`,
    tx<{ happenedAtMs: number }[]>`
      select happened_at as happened_at_ms from heddle.iterations where thread_id = ${threadId} order by number limit 1`,
    tx<Columns<'iterations', 'cliUsed' | 'modelUsed' | 'fileEvents'>[]>`
      select cli_used, model_used, file_events from heddle.iterations
      where thread_id = ${threadId} order by number desc limit ${LOOP_ITERATIONS_MAX}`,
  ])
  return {
    totalIterations: total?.count ?? 0,
    firstAtMs: first?.happenedAtMs ?? null,
    lastCli: newest.find(({ cliUsed }) => cliUsed !== null)?.cliUsed ?? null,
    lastModel: newest.find(({ modelUsed }) => modelUsed !== null)?.modelUsed ?? null,
    fileEvents: [...newest].reverse().flatMap(({ fileEvents }) => fileEvents),
  }
}
