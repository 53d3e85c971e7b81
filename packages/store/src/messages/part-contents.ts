import { createHash } from 'node:crypto'
import type { PartToStore } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { asArray } from '../sql/arrays.js'

/*
 * The bytes of parts lie beside the messages, once for each content within a project, and know how many parts name them.
 * Whoever changes several of them locks them in the order of their hashes, so that no two wait in a circle.
 */

const ownProject = (tx: Tx) => tx`project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)`

/** Stores the bytes of new messages' parts, and counts those that name bytes which are there already. */
export async function holdPartContents(tx: Tx, parts: readonly PartToStore[]): Promise<void> {
  const wanted = new Map<string, { readonly bytes: Buffer; times: number }>()
  for (const { part, bytes } of parts) {
    if (part.sha256 === undefined || bytes === null) continue
    const known = wanted.get(part.sha256)
    if (known === undefined) wanted.set(part.sha256, { bytes, times: 1 })
    else known.times++
  }
  // One pass: bytes that are there are only counted, and whoever stores the same at this moment waits where the other is.
  for (const hash of [...wanted.keys()].sort()) {
    const content = wanted.get(hash)
    if (content === undefined) continue
    const held = await changeReferences(tx, new Map([[hash, content.times]]))
    if (held.has(hash)) continue
    await tx`
      insert into heddle.part_contents as content (hash, content, size_bytes, reference_count)
      values (decode(${hash}, 'hex'), ${content.bytes}, ${content.bytes.length}, ${content.times})
      on conflict (project_id, hash) do update set reference_count = content.reference_count + excluded.reference_count`
  }
}

/**
 * Counts parts that name bytes which are there, or that name them no more.
 *
 * @returns the hashes whose bytes are there
 */
export async function changeReferences(tx: Tx, times: ReadonlyMap<string, number>): Promise<ReadonlySet<string>> {
  if (times.size === 0) return new Set()
  const given = [...times].map(([hash, count]) => ({ hash, times: count }))
  const rows = await tx<{ hash: string }[]>`
    with given as materialized (
      select decode(hash, 'hex') as hash, times
      from json_to_recordset(${JSON.stringify(given)}::text::json) as given (hash text, times integer)
    ),
    held as materialized (
      select hash from heddle.part_contents
      where ${ownProject(tx)} and hash in (select hash from given)
      order by hash
      for update
    )
    update heddle.part_contents as content
    set reference_count = content.reference_count + given.times
    from given
    where ${ownProject(tx)} and content.hash = given.hash and content.hash in (select hash from held)
    returning encode(content.hash, 'hex') as hash`
  return new Set(rows.map(({ hash }) => hash))
}

/**
 * Takes references back, and removes the bytes that nothing names any more.
 *
 * @returns how many contents were removed
 */
export async function releasePartContents(tx: Tx, times: ReadonlyMap<string, number>): Promise<number> {
  if (times.size === 0) return 0
  await changeReferences(tx, new Map([...times].map(([hash, count]) => [hash, -count])))
  const { count } = await tx`
    delete from heddle.part_contents
    where ${ownProject(tx)} and reference_count <= 0
      and hash in (select decode(given, 'hex') from unnest(${asArray([...times.keys()])}::text[]) as given)`
  return count
}

/** The bytes of some contents, by hash; those that were erased are left out. */
export async function loadPartContents(tx: Tx, hashes: Iterable<string>): Promise<Map<string, Buffer>> {
  const rows = await tx<{ hash: string; content: Uint8Array }[]>`
    select encode(hash, 'hex') as hash, content from heddle.part_contents
    where ${ownProject(tx)}
      and hash in (select decode(given, 'hex') from unnest(${asArray([...hashes])}::text[]) as given)`
  return new Map(rows.map(({ hash, content }) => [hash, Buffer.from(content)]))
}

/** The hashes of the bytes that a thread's messages name, in their order. */
export async function partHashesOf(
  tx: Tx,
  { threadId, headSeq }: { threadId: string; headSeq: number },
): Promise<string[]> {
  const rows = await tx<{ hash: string }[]>`
    select distinct part->>'sha256' as hash
    from heddle.messages as message, json_array_elements(message.parts) as part
    where message.thread_id = ${threadId} and message.seq <= ${headSeq} and message.parts is not null
      and part->>'sha256' is not null
    order by hash`
  return rows.map(({ hash }) => hash)
}

/** What an import that was cut short has left is taken away by the next one of its project, after so long. */
const UNUSED_HOURS_MAX = 24

/** Stores bytes for messages that are about to come. They are hashed anew: a file cannot put them under another's hash. */
export async function importPartContents(tx: Tx, contents: readonly Buffer[]): Promise<void> {
  await tx`
    delete from heddle.part_contents
    where ${ownProject(tx)} and reference_count = 0
      and created_at < now() - make_interval(hours => ${UNUSED_HOURS_MAX})`
  const byHash = new Map(contents.map((bytes) => [createHash('sha256').update(bytes).digest('hex'), bytes]))
  for (const hash of [...byHash.keys()].sort()) {
    const bytes = byHash.get(hash) ?? Buffer.alloc(0)
    await tx`
      insert into heddle.part_contents (hash, content, size_bytes)
      values (decode(${hash}, 'hex'), ${bytes}, ${bytes.length})
      on conflict (project_id, hash) do nothing`
  }
}
