import { createHash } from 'node:crypto'
import type { PartToStore } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { messagesOf } from '../forks/lineage.js'
import { asArray } from '../sql/arrays.js'

/*
 * The bytes of parts are stored in their own table, once per distinct content within a project, with a count of the parts
 * that refer to them. Several rows are always locked in the order of their hashes, to avoid deadlocks.
 */

const ownProject = (tx: Tx) => tx`project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)`

/** Stores the bytes of new messages' parts, and counts the references to bytes that exist already. */
export async function holdPartContents(tx: Tx, parts: readonly PartToStore[]): Promise<void> {
  const wanted = new Map<string, { readonly bytes: Buffer; times: number }>()
  for (const { part, bytes } of parts) {
    if (part.sha256 === undefined || bytes === null) continue
    const known = wanted.get(part.sha256)
    if (known === undefined) wanted.set(part.sha256, { bytes, times: 1 })
    else known.times++
  }
  // One pass: for existing bytes only the count changes, and concurrent inserts of the same bytes wait for each other.
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
 * Changes the counts of references to existing bytes.
 *
 * @returns the hashes whose bytes exist
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
 * Removes references, and the bytes without any.
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

/** The bytes of some contents, by hash; erased ones are omitted. */
export async function loadPartContents(tx: Tx, hashes: Iterable<string>): Promise<Map<string, Buffer>> {
  const rows = await tx<{ hash: string; content: Uint8Array }[]>`
    select encode(hash, 'hex') as hash, content from heddle.part_contents
    where ${ownProject(tx)}
      and hash in (select decode(given, 'hex') from unnest(${asArray([...hashes])}::text[]) as given)`
  return new Map(rows.map(({ hash, content }) => [hash, Buffer.from(content)]))
}

/** The hashes of the bytes to which a thread's messages refer, in ascending order. */
export async function partHashesOf(
  tx: Tx,
  { threadId, headSeq }: { threadId: string; headSeq: number },
): Promise<string[]> {
  const rows = await tx<{ hash: string }[]>`
    select distinct part->>'sha256' as hash
    from ${messagesOf(tx, threadId)} as message, json_array_elements(message.parts) as part
    where message.seq <= ${headSeq} and message.parts is not null
      and part->>'sha256' is not null
    order by hash`
  return rows.map(({ hash }) => hash)
}

/** The next import of a project removes unused bytes of an interrupted import after this time. */
const UNUSED_HOURS_MAX = 24

/** Stores bytes for messages that follow. Their hashes are computed here, so a file cannot store them under another hash. */
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
