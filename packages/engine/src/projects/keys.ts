import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { newId } from '@heddle/client/calls'
import type { ApiKey, KeyBody, KeyChange, NewApiKey, Page } from '@heddle/client/interface'
import { type Access, idSchema, keyBodySchema, keyChangeSchema, notFound, parse } from '@heddle/contracts'
import {
  type ApiKeyRow,
  ensureProject,
  findApiKey,
  hasApiKeys,
  insertApiKey,
  listApiKeys,
  revokeApiKey,
  type Store,
  touchApiKey,
  updateApiKey,
} from '@heddle/store'
import { parse as bytesOf } from 'uuid'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'

/*
 * A key is `hdl_` and 64 characters: the id of its project (16 bytes) and 256 random bits. The look-up is limited to the project
 * in the key, so it never crosses projects; a key with another project's id matches no hash there.
 *
 * The SHA-256 of a key is stored. A slow hash such as scrypt protects passwords that can be guessed; 256 random bits cannot be
 * guessed, and a slow hash would cost each request 50 ms and more.
 */
const PREFIX = 'hdl_'
const PROJECT_BYTES = 16
const SECRET_BYTES = 32
const KEY = /^hdl_[A-Za-z0-9_-]{64}$/

/** @returns the key itself in `key`, which cannot be shown again */
export async function createKey({ store, project, projectId }: EngineContext, given: KeyBody): Promise<NewApiKey> {
  const { name, role, proxyMode = null } = parse(keyBodySchema, given, 'key')
  const secret = Buffer.concat([bytesOf(projectId), randomBytes(SECRET_BYTES)])
  const key = PREFIX + secret.toString('base64url')
  const row = await store.inProject(projectId, async (tx) => {
    await ensureProject(tx, { projectId, name: project })
    return await insertApiKey(tx, { id: newId(), name, role, proxyMode, hash: hashOf(key) })
  })
  return { ...toKey(row), key }
}

export async function listKeys({ store, projectId }: EngineContext): Promise<Page<ApiKey>> {
  return { items: (await store.inProject(projectId, (tx) => listApiKeys(tx))).map(toKey), nextCursor: null }
}

/** @throws PermanentError `NOT_FOUND` if the project has no key with this id */
export async function updateKey(
  { store, projectId }: EngineContext,
  given: string,
  change: KeyChange,
): Promise<ApiKey> {
  const id = parse(idSchema, given, 'id')
  const { proxyMode } = parse(keyChangeSchema, change, 'key')
  const row = await store.inProject(projectId, (tx) => updateApiKey(tx, { id, proxyMode }))
  if (!row) throw unknownKey(id)
  return toKey(row)
}

/** @throws PermanentError `NOT_FOUND` if the project has no key with this id */
export async function revokeKey({ store, projectId }: EngineContext, given: string): Promise<ApiKey> {
  const id = parse(idSchema, given, 'id')
  const row = await store.inProject(projectId, (tx) => revokeApiKey(tx, { id }))
  if (!row) throw unknownKey(id)
  return toKey(row)
}

/** How often the time of a key's last use is updated at most. */
const TOUCH_EVERY_MS = 60_000

/**
 * The project, role and mode of a key; null for a malformed, unknown or revoked one.
 *
 * @throws RetryableError `SERVICE_UNAVAILABLE` if the store is down
 */
export async function readKey(store: Store, key: string, nowMs: number): Promise<Access | null> {
  if (!KEY.test(key)) return null
  const projectId = projectOf(key)
  const hash = hashOf(key)
  const found = await store.inProject(projectId, (tx) => findApiKey(tx, { projectId, hash }), {
    snapshot: true,
    isFirst: true,
  })
  // The index look-up before is not constant-time, but its duration reveals at most a hash, from which no key can be derived.
  if (found === null || !timingSafeEqual(hash, found.hash)) return null
  if ((found.lastUsedAtMs ?? 0) + TOUCH_EVERY_MS < nowMs) {
    // The request does not wait for the update, and does not fail with it.
    store.inProject(projectId, (tx) => touchApiKey(tx, { id: found.id, atMs: nowMs })).catch(() => undefined)
  }
  return { project: found.project, role: found.role, proxyMode: found.proxyMode ?? undefined }
}

/** Whether a project ever had a key. */
export async function hasKeys(store: Store, projectId: string): Promise<boolean> {
  return await store.inProject(projectId, (tx) => hasApiKeys(tx, { projectId }))
}

/** Formatted here, because the `uuid` package refuses ids without a valid version, which an unknown key may contain. */
function projectOf(key: string): string {
  const hex = Buffer.from(key.slice(PREFIX.length), 'base64url').subarray(0, PROJECT_BYTES).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function unknownKey(id: string): Error {
  return notFound('key', id, 'see `heddle keys list`')
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

function toKey({ id, name, role, proxyMode, createdAtMs, lastUsedAtMs, revokedAtMs }: ApiKeyRow): ApiKey {
  return {
    id,
    name,
    role,
    proxyMode,
    createdAt: isoTime(createdAtMs),
    lastUsedAt: isoTime(lastUsedAtMs),
    revokedAt: isoTime(revokedAtMs),
  }
}
