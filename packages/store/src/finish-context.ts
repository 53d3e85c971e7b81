import { type ContextResult, type ErrorData, RetryableError } from '@heddle/contracts'
import { asArray } from './arrays.js'
import type { Tx } from './connection.js'
import { shownItemsInsert } from './context-items.js'
import { dropOldDeliveries, isTurnToDrop } from './deliveries.js'
import { deflateJson, type PackedJson } from './packing.js'
import type { Prepared } from './prepared-contexts.js'
import type { LinesToStore } from './stored-contexts.js'

export interface BuiltContext {
  readonly id: string
  readonly result: ContextResult
  /** The result as {@link packResult} packs it; where it is given, all statements are sent at once. Default: it is packed. */
  readonly packed?: PackedJson
  /** What is kept of it when the delivered bytes are gone; without it those stay with the context. */
  readonly stored?: LinesToStore
  /** The moment that it shows, in milliseconds since 1970. */
  readonly shownAtMs?: number
  readonly prepared?: Prepared | undefined
  /** Ids of the other threads that it tells of. */
  readonly mentions?: readonly string[]
}

/** A result as it is stored, for {@link finishContext}. */
export function packResult(result: ContextResult): Promise<PackedJson> {
  return deflateJson(result)
}

/**
 * Stores a built context. It is the first answer that counts: of two workers on one request, one answers.
 *
 * @returns false where the context was built or failed before
 * @throws RetryableError where a thread that it tells of, or the context that it is based on, was erased meanwhile: it is to
 *   be built again
 */
export async function finishContext(tx: Tx, built: BuiltContext): Promise<boolean> {
  const { id, result, stored, shownAtMs, prepared, mentions = [] } = built
  const { receipt } = result
  const packed = built.packed ?? (await packResult(result))
  const lines = stored?.asBase
  const baseId = stored?.baseId ?? null
  const shown = shownItemsInsert(tx, receipt)
  // Everything else hangs on the update: where the context is answered or erased, nothing is written.
  const [, [written]] = await Promise.all([
    mentions.length > 0 && recordMentions(tx, id, mentions),
    tx<{ finished: number; isBaseThere: boolean }[]>`
      with base as (
        select from (select) as one
        where ${baseId}::uuid is null or exists (select from heddle.context_lines where id = ${baseId})
      ),
      finished as (
        update heddle.contexts
        set
          status = 'built', built_at = now(), shown_at = ${shownAtMs ?? null}, state_id = ${receipt.stateId},
          agent_version = ${receipt.agentVersion}, head_seq = ${receipt.headSeq}, budget = ${result.budget},
          tokens_used = ${result.tokensUsed}, summary_used = ${result.summaryUsed}, hidden = ${stored?.hidden ?? null},
          digest = ${packed.digest}, prepared_key = ${prepared?.key ?? null}, lane = ${prepared?.lane ?? null},
          versions = ${prepared?.versions ?? null}, holds_until = ${prepared?.holdsUntilMs ?? null}
        where id = ${id} and status = 'requested' and exists (select from base)
        returning id, thread_id
      ),
      delivered as (
        insert into heddle.context_deliveries (context_id, result) select id, ${packed.bytes} from finished
      ),
      lines as (
        insert into heddle.context_lines (id, thread_id, chain_id, base_id, depth, delta)
        select id, thread_id, ${lines?.chainId ?? null}, ${baseId}, ${lines?.depth ?? 0}, ${stored?.delta ?? null}
        from finished
        where ${stored !== undefined}
      )
      ${shown === null ? tx`` : tx`, shown as (${shown})`}
      select (select count(*) from finished) as finished, exists (select from base) as is_base_there`,
    stored !== undefined && isTurnToDrop(id) && dropOldDeliveries(tx, id),
  ])
  if (written?.isBaseThere === false)
    throw new RetryableError('INTERNAL', 'the context that this one is based on was removed meanwhile')
  return written?.finished === 1
}

/** The threads are held, as for what is published for them: an erasure finds the context by them. */
async function recordMentions(tx: Tx, id: string, mentions: readonly string[]): Promise<void> {
  const [{ count: standing }] = await Promise.all([
    tx`select from heddle.threads where id = any(${asArray(mentions)}::uuid[]) order by id for key share`,
    tx`
      insert into heddle.context_mentions (thread_id, context_id)
      select thread.id, context.id
      from heddle.contexts as context
      join heddle.threads as thread on thread.id = any(${asArray(mentions)}::uuid[])
      where context.id = ${id}
      on conflict do nothing`,
  ])
  if (standing < new Set(mentions).size)
    throw new RetryableError('INTERNAL', 'a thread that the context tells of was erased meanwhile')
}

/** @returns false where the context was built or failed before */
export async function failContext(tx: Tx, { id, error }: { id: string; error: ErrorData }): Promise<boolean> {
  const { count } = await tx`
    update heddle.contexts
    set status = 'failed', built_at = now(), error = ${JSON.stringify(error)}::text::json
    where id = ${id} and status = 'requested'`
  return count === 1
}
