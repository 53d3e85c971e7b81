import { notFound } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'

/** What a project may let another one do with what is its own: read its archive by reference. */
export type GrantScope = Grant['scope']

/** A grant as its two sides name it. All functions here work in the transaction of the project that is read. */
export type Grant = Columns<'grants', 'granteeProjectId' | 'scope'>

/**
 * Offers a grant, for an admin of the project that is read. It is in force once the other side has accepted it. Offering
 * again what was revoked needs a new acceptance; offering what is in force changes nothing.
 */
export async function offerGrant(tx: Tx, { granteeProjectId, scope }: Grant): Promise<void> {
  await tx`
    insert into heddle.grants as granted (id, grantee_project_id, scope)
    values (gen_random_uuid(), ${granteeProjectId}, ${scope})
    on conflict (project_id, grantee_project_id, scope) do update set revoked_at = null, accepted_at = null
      where granted.revoked_at is not null`
}

/**
 * Accepts a grant, for an admin of the project that reads.
 *
 * @throws PermanentError `NOT_FOUND` where nothing is offered
 */
export async function acceptGrant(tx: Tx, { granteeProjectId, scope }: Grant): Promise<void> {
  const { count } = await tx`
    update heddle.grants set accepted_at = coalesce(accepted_at, now())
    where grantee_project_id = ${granteeProjectId} and scope = ${scope} and revoked_at is null`
  if (count === 0) throw notFound('grant', scope, 'an admin of the other project offers it first')
}

/** Takes a grant back, for an admin of either side; without one nothing happens. */
export async function revokeGrant(tx: Tx, { granteeProjectId, scope }: Grant): Promise<void> {
  await tx`
    update heddle.grants set revoked_at = now()
    where grantee_project_id = ${granteeProjectId} and scope = ${scope} and revoked_at is null`
}

/** Whether a grant of this project is in force: offered, accepted and not revoked. */
export async function isGranted(tx: Tx, { granteeProjectId, scope }: Grant): Promise<boolean> {
  const rows = await tx`
    select from heddle.grants
    where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
      and grantee_project_id = ${granteeProjectId} and scope = ${scope}
      and accepted_at is not null and revoked_at is null`
  return rows.length > 0
}

export type GrantRow = Grant & Columns<'grants', 'createdAtMs' | 'acceptedAtMs' | 'revokedAtMs'>

/** The grants that this project has offered, newest first. */
export async function listGrants(tx: Tx): Promise<GrantRow[]> {
  return await tx<GrantRow[]>`
    select grantee_project_id, scope, created_at as created_at_ms, accepted_at as accepted_at_ms,
      revoked_at as revoked_at_ms
    from heddle.grants
    order by created_at desc, grantee_project_id
    limit 1000`
}
