import type { Role } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { lineageIds, messagesOf, tokenCountsOf } from '../forks/lineage.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'

export interface ToolUseRow {
  /** Null for results that were appended without the name of their tool. */
  readonly tool: string | null
  readonly results: number
  readonly failed: number
  readonly tokens: number
  readonly largestTokens: number
  /** Results with an archived content, of which contexts show a shorter form, or none. */
  readonly condensed: number
  readonly condensedTokens: number
}

/** The tools of a thread with the sizes of their results, the most tokens first. Reads the whole thread without its texts. */
export async function loadToolUse(
  tx: Tx,
  { threadId, limit }: { readonly threadId: string; readonly limit: number },
): Promise<ToolUseRow[]> {
  return await tx<ToolUseRow[]>`
    ${weighed(tx, threadId)}
    select
      tool, count(*)::integer as results, (count(*) filter (where is_error))::integer as failed,
      sum(tokens)::float8 as tokens, max(tokens)::integer as largest_tokens,
      (count(*) filter (where condensed))::integer as condensed,
      coalesce(sum(tokens) filter (where condensed), 0)::float8 as condensed_tokens
    from weighed
    where role = 'tool_result'
    group by tool
    order by 4 desc, tool
    limit ${limit}`
}

/** The tools of results, by the ids of their messages. */
export async function loadToolsOf(
  tx: Tx,
  { threadId, messageIds }: { readonly threadId: string; readonly messageIds: readonly string[] },
): Promise<ReadonlyMap<string, string | null>> {
  const rows = await tx<{ id: string; tool: string | null }[]>`
    select message.id, coalesce(message.tool_name, archive.tool_name) as tool
    from ${messagesOf(tx, threadId)} as message
    left join heddle.archive as archive
      on archive.thread_id = any(${lineageIds(tx, threadId)}) and archive.message_id = message.id and archive.location = ''
    where message.id = any(${asArray(messageIds)}::uuid[])`
  return new Map(rows.map(({ id, tool }) => [id, tool]))
}

/** A place in the list of the largest messages. */
export interface WeighedPlace {
  readonly tokens: number
  readonly seq: number
}

export interface LargestRow extends WeighedPlace, Columns<'messages', 'id' | 'code' | 'isError' | 'orderedAtMs'> {
  readonly role: Role
  readonly toolName: string | null
  readonly condensed: boolean
  readonly beginning: string
}

interface LargestQuery {
  readonly threadId: string
  /** Only results of this tool. */
  readonly tool?: string | undefined
  /** The last one of the previous page. */
  readonly after?: WeighedPlace | undefined
  readonly limit: number
  /** Of each content that is read. */
  readonly charactersMax: number
}

/** A stored escape such as `\u0000` stands for one character. */
const ESCAPE_CHARACTERS = 6

/** The messages of a thread, or the results of one tool, the largest first; of equal ones the newest first. */
export async function listLargest(
  tx: Tx,
  { threadId, tool, after, limit, charactersMax }: LargestQuery,
): Promise<LargestRow[]> {
  const rows = await tx<(LargestRow & Columns<'messages', 'contentEscaped'>)[]>`
    ${weighed(tx, threadId)}
    select
      chosen.*, message.code, message.ordered_at as ordered_at_ms, message.content_escaped,
      left(
        message.content,
        case when message.content_escaped then ${ESCAPE_CHARACTERS * charactersMax}::integer else ${charactersMax}::integer end
      ) as beginning
    from (
      select seq, id, role, tool as tool_name, is_error, tokens, condensed
      from weighed
      where ${tool === undefined ? tx`true` : tx`role = 'tool_result' and tool = ${tool}`}
        and ${after === undefined ? tx`true` : tx`(tokens, seq) < (${after.tokens}::integer, ${after.seq}::bigint)`}
      order by tokens desc, seq desc
      limit ${limit}) as chosen
    join ${messagesOf(tx, threadId)} as message on message.seq = chosen.seq
    order by chosen.tokens desc, chosen.seq desc`
  return rows.map(({ contentEscaped, ...row }) => ({
    ...row,
    beginning: (contentEscaped ? unescapedBeginning(row.beginning) : row.beginning).slice(0, charactersMax),
  }))
}

/** Every message of a thread with its tokens: the exact count, or the estimate until it is made. */
function weighed(tx: Tx, threadId: string) {
  return tx`
    with counts as materialized (
      -- Runs of counts may overlap.
      select run.seq + counted.place - 1 as seq, max(counted.tokens) as tokens
      from ${tokenCountsOf(tx, threadId)} as run
      cross join unnest(run.tokens) with ordinality as counted (tokens, place)
      group by 1
    ),
    weighed as (
      select
        message.seq, message.id, message.role, coalesce(message.tool_name, archive.tool_name) as tool, message.is_error,
        coalesce(counts.tokens, message.tokens_estimate) as tokens, archive.id is not null as condensed
      from ${messagesOf(tx, threadId)} as message
      left join counts on counts.seq = message.seq
      left join heddle.archive as archive
        on archive.thread_id = any(${lineageIds(tx, threadId)}) and archive.message_id = message.id and archive.location = ''
      where message.restores_seq is null
    )`
}

/** @param text the beginning of a text of JSON, which may end within an escape */
function unescapedBeginning(text: string): string {
  for (let end = text.length; end > 0; end--) {
    try {
      return JSON.parse(text.endsWith('"', end) && end > 1 ? text.slice(0, end) : `${text.slice(0, end)}"`) as string
    } catch {
      // Within an escape of at most six characters.
    }
  }
  return ''
}
