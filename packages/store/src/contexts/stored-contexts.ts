import { type ContextResult, notFound, PermanentError } from '@heddle/contracts'
import { agentTexts, type ContextLines, fromDelta, fromLines, messageTexts, namedMessages, toDelta } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { messagesOf } from '../forks/lineage.js'
import { type MessageRow, messageColumns, readMessages } from '../messages/stored-message.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { deflateLines, inflateLines } from '../sql/packing.js'
import { isResult } from './packed-result.js'

/**
 * Contexts as references and deltas. A context is a list of lines that refer to the texts of messages, of the agent's version
 * and of the request instead of copying them. Its row has only the lines that differ from the context it is based on, so a
 * context of a long thread takes only the space of its new lines.
 */

/** The most rows that are read for one context. The next context is stored with all its lines and starts another chain. */
const CHAIN_DEPTH_MAX = 50

/** A stored context on which the next one of the thread can be based. */
export interface LinesBase {
  readonly id: string
  readonly chainId: string
  readonly depth: number
  readonly lines: readonly string[]
}

export interface LinesToStore {
  readonly baseId: string | null
  readonly delta: Uint8Array
  /** Lines that are removed together with the context; null if it has no such lines. */
  readonly hidden: Uint8Array | null
  /** The stored context as a base for others, once it is committed. */
  readonly asBase: LinesBase
}

export function packLines(id: string, packed: ContextLines, base: LinesBase | null): LinesToStore {
  const on = base !== null && base.depth < CHAIN_DEPTH_MAX ? base : null
  const { lines, hidden } = packed
  return {
    baseId: on?.id ?? null,
    delta: on?.lines === lines ? repeatOf(packed) : deflateLines(toDelta(packed, on?.lines ?? [])),
    hidden: hidden.length === 0 ? null : deflateLines(hidden.join('\n')),
    asBase: { id, chainId: on?.chainId ?? id, depth: on === null ? 0 : on.depth + 1, lines },
  }
}

/** The stored form of contexts that are equal to their base, by their lines: packing would take longer than everything else. */
const repeats = new WeakMap<ContextLines, Uint8Array>()

function repeatOf(packed: ContextLines): Uint8Array {
  const known = repeats.get(packed)
  if (known !== undefined) return known
  const delta = deflateLines(toDelta(packed, packed.lines))
  repeats.set(packed, delta)
  return delta
}

type StoredContext = Columns<'contexts', 'id' | 'threadId' | 'request' | 'agentVersion'>

/**
 * Rebuilds a context from its lines, byte for byte as it was delivered.
 *
 * @throws PermanentError `NOT_FOUND` if parts of it were erased, or it was built before lines were stored; `INTERNAL` if the
 *   result differs
 */
export async function rebuildContext(tx: Tx, context: StoredContext): Promise<ContextResult> {
  const { id, threadId } = context
  const [chain, [kept]] = await Promise.all([
    loadChain(tx, id),
    tx<Columns<'contexts', 'hidden' | 'digest' | 'elementDigest'>[]>`
      select hidden, digest, element_digest from heddle.contexts where id = ${id}`,
  ])
  if (chain.length === 0)
    throw notFound(
      'context',
      id,
      'its delivered bytes were removed, and it was built by a version that could not rebuild contexts',
    )
  let read: { head: string; lines: string[] } = { head: '', lines: [] }
  for (const delta of chain) read = fromDelta(inflateLines(delta), read.lines)
  const hidden = kept?.hidden == null ? [] : inflateLines(kept.hidden).split('\n')
  const lines: ContextLines = { ...read, hidden }
  const textOf = await loadTexts(tx, context, namedMessages(lines))
  const made = readLines(id, lines, textOf)
  if ('missing' in made) throw partsGone(id, threadId, made.missing)
  const result = { id, ...made }
  if (kept !== undefined && !isResult(kept, result)) {
    throw new PermanentError('INTERNAL', `context ${id} was rebuilt, but differs from what was delivered`)
  }
  return result
}

function readLines(id: string, lines: ContextLines, textOf: (name: string) => string | undefined) {
  try {
    return fromLines(lines, textOf)
  } catch (cause) {
    throw new PermanentError('INTERNAL', `context ${id} cannot be rebuilt: its stored lines are damaged`, { cause })
  }
}

/** The deltas from the first of a chain to one context. */
async function loadChain(tx: Tx, id: string): Promise<Uint8Array[]> {
  const rows = await tx<{ delta: Uint8Array }[]>`
    with recursive chain as (
        select base_id, depth, delta from heddle.context_lines where id = ${id}
      union all
        select base.base_id, base.depth, base.delta
        from chain
        cross join lateral (
          select base_id, depth, delta from heddle.context_lines where context_lines.id = chain.base_id offset 0) as base
    )
    select delta from chain order by depth`
  return rows.map(({ delta }) => delta)
}

async function loadTexts(
  tx: Tx,
  { threadId, request, agentVersion }: StoredContext,
  seqs: readonly number[],
): Promise<(name: string) => string | undefined> {
  const [rows, [agent]] = await Promise.all([
    tx<MessageRow[]>`
      select ${messageColumns(tx)}
      from unnest(${asArray(seqs)}::bigint[]) as given (seq)
      cross join lateral (
        select * from ${messagesOf(tx, threadId)} as messages
        where messages.seq = given.seq
        offset 0) as message`,
    tx<Columns<'agentVersions', 'systemPrompt' | 'docs'>[]>`
      select system_prompt, docs from heddle.agent_versions
      where agent_id = (select agent_id from heddle.threads where id = ${threadId}) and version = ${agentVersion}`,
  ])
  const shown = await readMessages(tx, threadId, rows)
  const messages = new Map(shown.map((message) => [`m${message.seq}`, messageTexts(message)]))
  const agentsTexts = agent === undefined ? [] : agentTexts(agent)
  return (name) => {
    if (name === 'q') return request.message
    if (name.startsWith('a')) return agentsTexts[Number(name.slice(1))]
    const [message = '', index] = name.split('.')
    return messages.get(message)?.[Number(index)]
  }
}

function partsGone(id: string, threadId: string, missing: readonly string[]): PermanentError {
  const messages = new Set(missing.filter((name) => name.startsWith('m')).map((name) => name.split('.')[0]?.slice(1)))
  const parts = [
    ...(messages.size > 0 ? [`messages ${[...messages].slice(0, 10).join(', ')} of its thread`] : []),
    ...(missing.some((name) => /^a\d/.test(name)) ? ["the agent's version that it was built with"] : []),
    ...missing.filter((name) => name.startsWith('a line')),
  ]
  return new PermanentError('NOT_FOUND', `context ${id} cannot be rebuilt: erased were ${parts.join('; ')}`, {
    field: 'context',
    received: id,
    hint: 'Erased data cannot be restored. Contexts of other threads are not affected.',
    facts: { threadId, erased: parts },
  })
}

/**
 * Removes rows that no context of their chain needs any more, after contexts of the chain were removed.
 *
 * @param chains ids of the contexts that were removed, with their threads
 */
export async function removeLonelyLines(tx: Tx, removed: readonly { id: string; threadId: string }[]): Promise<void> {
  if (removed.length === 0) return
  await tx`
    with chains as (
      select distinct lines.thread_id, lines.chain_id
      from heddle.context_lines as lines
      where lines.id = any(${asArray(removed.map(({ id }) => id))}::uuid[])
    )
    delete from heddle.context_lines as lines
    using chains
    where lines.thread_id = chains.thread_id and lines.chain_id = chains.chain_id
      and not exists (
        select from heddle.context_lines as other
        join heddle.contexts as context on context.id = other.id
        where other.thread_id = chains.thread_id and other.chain_id = chains.chain_id)`
}
