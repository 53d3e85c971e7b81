import { ConflictError, type ExportRecordOf, validationError } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { messageAt } from '../forks/lineage.js'
import { changeReferences } from '../messages/part-contents.js'
import { recordTokenCounts } from '../messages/token-counts.js'
import type { Columns } from '../schema/rows.js'
import { byKey } from '../sql/index-order.js'
import { givenColumns, insertColumns, recordColumns } from './export-columns.js'
import { exportTables } from './export-tables.js'

/**
 * Checks that the messages of a thread are the first messages of the file: an import continues an earlier one, or adds to
 * the thread that was exported, but never mixes two conversations.
 *
 * @throws ConflictError
 */
export async function checkMessages(
  tx: Tx,
  { threadId, name, records }: { threadId: string; name: string; records: readonly ExportRecordOf<'message'>[] },
): Promise<void> {
  const given = records.map(({ seq, id, fingerprint }) => ({ seq, id, fingerprint }))
  const [first] = given
  const reused = await tx`
    select from heddle.stage_cursors where thread_id = ${threadId} and base_seq >= ${first?.seq ?? null}::bigint`
  if (reused.count > 0) {
    throw new ConflictError(
      `thread "${name}" was erased before, and its new messages are numbered after the erased ones`,
      {
        field: 'as',
        received: name,
        hint: 'Import the file under a name that was never erased: --as NAME.',
      },
    )
  }
  const [other] = await tx`
    select stored.seq
    from json_to_recordset(${JSON.stringify(given)}::text::json) as given (seq bigint, id uuid, fingerprint bytea)
    cross join lateral (
      select seq, id, fingerprint from ${messageAt(tx, threadId, tx`given.seq`)} as message
      where ${byKey(tx, tx`message.seq`, tx`given.seq`)}) as stored
    where stored.id <> given.id or stored.fingerprint <> given.fingerprint
    limit 1`
  if (other === undefined) return
  throw new ConflictError(`thread "${name}" has other messages than the file`, {
    field: 'as',
    received: name,
    hint: 'Import it under another name: --as NAME.',
  })
}

/** Adds the messages that a thread does not have yet, with their exact counts, under the lock of its sequence. */
export async function importMessages(
  tx: Tx,
  { threadId, name, records }: { threadId: string; name: string; records: readonly ExportRecordOf<'message'>[] },
): Promise<number> {
  const definition = exportTables.message
  const [cursor] = await tx<Columns<'stageCursors', 'headSeq' | 'baseSeq'>[]>`
    select head_seq, base_seq from heddle.stage_cursors where thread_id = ${threadId} for update`
  await checkMessages(tx, { threadId, name, records })
  const headSeq = cursor?.headSeq ?? 0
  const fresh = records.filter(({ seq }) => seq > headSeq)
  const [first, last] = [fresh[0], fresh.at(-1)]
  if (first === undefined || last === undefined) return 0
  // If the exported thread had the name of an erased one, its numbers begin after the head of that one.
  const baseSeq = headSeq === 0 ? first.seq - 1 : (cursor?.baseSeq ?? 0)
  if (headSeq > 0 && first.seq !== headSeq + 1)
    throw new ConflictError(`thread "${name}" was erased or changed while it was imported`)
  await lockParts(tx, fresh)
  const given = JSON.stringify(fresh)
  await Promise.all([
    tx`
      insert into heddle.messages (thread_id, ${insertColumns(tx, definition)})
      select ${threadId}, ${givenColumns(tx, definition)}
      from json_to_recordset(${given}::text::json) as given (${recordColumns(tx, definition)})`,
    recordTokenCounts(tx, {
      threadId,
      // Earlier versions did not count signatures: such a message is counted again.
      counts: fresh.flatMap(({ seq, tokens, thinking, reasoningTokens = thinking ? null : 0 }) =>
        tokens === null || reasoningTokens === null ? [] : { seq, tokens, reasoningTokens },
      ),
    }),
    tx`
      update heddle.stage_cursors
      set
        head_seq = ${last.seq}, base_seq = ${baseSeq},
        restored_count = restored_count + ${fresh.filter(({ restoresSeq }) => restoresSeq !== null).length},
        last_message_at = greatest(last_message_at, ${last.latestAt}::text::timestamptz),
        tokens_estimate = tokens_estimate + ${fresh
          .filter(({ restoresSeq }) => restoresSeq === null)
          .reduce((sum, { tokensEstimate }) => sum + tokensEstimate, 0)}
      where thread_id = ${threadId}`,
  ])
  return fresh.length
}

/** @throws PermanentError `VALIDATION_ERROR` if the bytes of a part are missing */
async function lockParts(tx: Tx, records: readonly ExportRecordOf<'message'>[]): Promise<void> {
  const times = new Map<string, number>()
  for (const { sha256 } of records.flatMap(({ parts }) => parts ?? [])) {
    if (sha256 !== undefined) times.set(sha256, (times.get(sha256) ?? 0) + 1)
  }
  const held = await changeReferences(tx, times)
  const missing = [...times.keys()].filter((hash) => !held.has(hash))
  if (missing.length > 0)
    throw validationError('parts', 'must name bytes that precede them in the file', `${missing.length} others`)
}
