import { estimateMessageTokens, type Message } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { messageAt } from '../forks/lineage.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { byKey } from '../sql/index-order.js'
import { countedTokens, readCount } from './token-counts.js'

/** The columns of a core `Message`, for `select ... from heddle.messages as message`. */
export function messageColumns(tx: Tx) {
  return tx`
    message.id, message.seq, message.code, message.role, message.content, message.content_escaped,
    message.parts, message.thinking, message.tool_calls, message.tool_call_id, message.tool_name, message.is_error,
    message.ordered_at as ordered_at_ms, message.ordinal, message.model, message.usage, message.context_id,
    message.pinned, message.kept_aside, message.tokens_estimate, message.restores_seq,
    -- The first that the text holds, with its quotes. Postgres' own operators decode all of the metadata on their way, and
    -- fail on the lone surrogates and NUL characters that these may hold.
    substring(message.metadata::text from '"cwd":("(?:[^"\\\\]|\\\\.)*")') as cwd,
    ${countedTokens(tx)} as counted`
}

export interface MessageRow
  extends Columns<
    'messages',
    | 'id'
    | 'seq'
    | 'code'
    | 'role'
    | 'content'
    | 'contentEscaped'
    | 'parts'
    | 'thinking'
    | 'toolCalls'
    | 'toolCallId'
    | 'toolName'
    | 'isError'
    | 'orderedAtMs'
    | 'ordinal'
    | 'model'
    | 'usage'
    | 'contextId'
    | 'pinned'
    | 'keptAside'
    | 'tokensEstimate'
    | 'restoresSeq'
  > {
  readonly cwd: string | null
  readonly counted: string | null
}

/** The messages of a thread's rows; a restore mark shows its message at the position of the mark. */
export async function readMessages(tx: Tx, threadId: string, rows: readonly MessageRow[]): Promise<Message[]> {
  const read = await withOriginals(tx, threadId, rows, messageColumns(tx))
  return read.map(({ row, original }) => toMessage(row, original))
}

/** A row, and for a mark the row of the restored message. */
export interface ReadRow<Row extends MessageRow> {
  readonly row: Row
  readonly original: Row | null
}

/**
 * Rows with the messages that marks among them restore. Without marks, as in almost all threads, nothing more is read. A mark
 * whose message is being erased is omitted.
 */
export async function withOriginals<Row extends MessageRow>(
  tx: Tx,
  threadId: string,
  rows: readonly Row[],
  columns: ReturnType<typeof messageColumns>,
): Promise<ReadRow<Row>[]> {
  const seqs = new Set(rows.flatMap(({ restoresSeq }) => (restoresSeq === null ? [] : [restoresSeq])))
  if (seqs.size === 0) return rows.map((row) => ({ row, original: null }))
  const found = await tx<Row[]>`
    select ${columns}
    from unnest(${asArray(seqs)}::bigint[]) as given (seq)
    cross join lateral (
      select * from ${messageAt(tx, threadId, tx`given.seq`)} as messages
      where ${byKey(tx, tx`messages.seq`, tx`given.seq`)}) as message`
  const originals = new Map(found.map((original) => [original.seq, original]))
  return rows.flatMap((row): ReadRow<Row>[] => {
    if (row.restoresSeq === null) return [{ row, original: null }]
    const original = originals.get(row.restoresSeq)
    return original === undefined ? [] : [{ row, original }]
  })
}

/**
 * @param original for a mark: the message whose content it shows. The position and the reference are those of the mark, and
 *   the token counts of a provider are only valid for the original position
 */
export function toMessage(row: MessageRow, original: MessageRow | null): Message {
  const shown = original ?? row
  return {
    id: row.id,
    seq: row.seq,
    code: row.code,
    role: shown.role,
    content: shown.contentEscaped ? (JSON.parse(shown.content) as string) : shown.content,
    ...(shown.parts !== null && { parts: shown.parts }),
    thinking: shown.thinking ?? [],
    toolCalls: shown.toolCalls ?? [],
    toolCallId: shown.toolCallId,
    toolName: shown.toolName,
    isError: shown.isError,
    orderedAtMs: row.orderedAtMs,
    ordinal: row.ordinal,
    model: shown.model,
    usage: row.usage,
    pinned: shown.pinned,
    keptAside: shown.keptAside,
    contextId: row.contextId,
    ...(shown.cwd !== null && { cwd: JSON.parse(shown.cwd) as string }),
    ...tokensOf({ ...shown, counted: row.counted ?? shown.counted, tokensEstimate: row.tokensEstimate }),
    ...(original !== null && {
      restores: { id: original.id, seq: original.seq, orderedAtMs: original.orderedAtMs },
    }),
  }
}

function tokensOf({ counted, tokensEstimate, thinking }: MessageRow) {
  if (counted !== null) return { ...readCount(counted), tokensExact: true }
  const { reasoningTokens } = estimateMessageTokens({ content: '', toolCalls: [], thinking: thinking ?? [] })
  return { tokens: tokensEstimate, reasoningTokens: Math.min(reasoningTokens, tokensEstimate), tokensExact: false }
}
