import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { isOwn } from '../sql/own-project.js'

/** A stored key: its hash, never the key. All functions here need a transaction of the key's own project. */
export type ApiKeyRow = Columns<
  'apiKeys',
  'id' | 'name' | 'role' | 'proxyMode' | 'createdAtMs' | 'lastUsedAtMs' | 'revokedAtMs'
>

export type NewApiKey = Columns<'apiKeys', 'id' | 'name' | 'role' | 'proxyMode' | 'hash'>

export async function insertApiKey(tx: Tx, { id, name, role, proxyMode, hash }: NewApiKey): Promise<ApiKeyRow> {
  const [row] = await tx<ApiKeyRow[]>`
    insert into heddle.api_keys (id, name, role, proxy_mode, hash) values (${id}, ${name}, ${role}, ${proxyMode}, ${hash})
    returning ${shown(tx)}`
  if (!row) throw new Error('an API key is missing after its insert')
  return row
}

/** Keys of a project that are listed at most; no project has as many. */
const KEYS_MAX = 1_000

/** The keys of the project, newest first, including revoked ones. */
export async function listApiKeys(tx: Tx): Promise<ApiKeyRow[]> {
  return await tx<ApiKeyRow[]>`
    select ${shown(tx)}
    from heddle.api_keys
    where ${isOwn(tx, 'api_keys')}
    order by created_at desc, id
    limit ${KEYS_MAX}`
}

/** @returns null if the project has no such key; a second revocation keeps the time of the first */
export async function revokeApiKey(tx: Tx, { id }: { id: string }): Promise<ApiKeyRow | null> {
  const [row] = await tx<ApiKeyRow[]>`
    update heddle.api_keys set revoked_at = coalesce(revoked_at, now())
    where id = ${id} and ${isOwn(tx, 'api_keys')}
    returning ${shown(tx)}`
  return row ?? null
}

/** @returns null if the project has no such key */
export async function updateApiKey(
  tx: Tx,
  { id, proxyMode }: Columns<'apiKeys', 'id' | 'proxyMode'>,
): Promise<ApiKeyRow | null> {
  const [row] = await tx<ApiKeyRow[]>`
    update heddle.api_keys set proxy_mode = ${proxyMode}
    where id = ${id} and ${isOwn(tx, 'api_keys')}
    returning ${shown(tx)}`
  return row ?? null
}

function shown(tx: Tx) {
  return tx`
    id, name, role, proxy_mode, created_at as created_at_ms, last_used_at as last_used_at_ms, revoked_at as revoked_at_ms`
}

export interface FoundApiKey extends Columns<'apiKeys', 'id' | 'role' | 'proxyMode' | 'hash' | 'lastUsedAtMs'> {
  /** The name of its project. */
  readonly project: string
}

/**
 * The key with this hash, unless it is revoked. Row-level security shows only keys of the transaction's project; the
 * condition checks the project a second time.
 */
export async function findApiKey(
  tx: Tx,
  { projectId, hash }: { projectId: string; hash: Uint8Array },
): Promise<FoundApiKey | null> {
  const [row] = await tx<FoundApiKey[]>`
    select key.id, key.role, key.proxy_mode, key.hash, project.name as project, key.last_used_at as last_used_at_ms
    from heddle.api_keys as key
    join heddle.projects as project on project.project_id = key.project_id
    where key.hash = ${hash} and key.project_id = ${projectId} and key.revoked_at is null`
  return row ?? null
}

/** Whether the project ever had a key: revoking the last one must not allow requests without a key again. */
export async function hasApiKeys(tx: Tx, { projectId }: { projectId: string }): Promise<boolean> {
  const rows = await tx`select from heddle.api_keys where project_id = ${projectId} limit 1`
  return rows.length > 0
}

export async function touchApiKey(tx: Tx, { id, atMs }: { id: string; atMs: number }): Promise<void> {
  await tx`
    update heddle.api_keys set last_used_at = greatest(last_used_at, ${atMs}) where id = ${id}`
}
