import { notFound } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'

/** A permission that a project gives to another one: to read its archive by reference. */
export type GrantScope = Grant['scope']

/** A grant as both projects name it. All functions here need a transaction of the project that is read. */
export type Grant = Columns<'grants', 'granteeProjectId' | 'scope'>

/**
 * Offers a grant, for an admin of the project that is read. It takes effect when the other project accepts it. A revoked
 * grant that is offered again needs a new acceptance; offering an active grant changes nothing.
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
 * @throws PermanentError `NOT_FOUND` if no grant was offered
 */
export async function acceptGrant(tx: Tx, { granteeProjectId, scope }: Grant): Promise<void> {
  const { count } = await tx`
    update heddle.grants set accepted_at = coalesce(accepted_at, now())
    where grantee_project_id = ${granteeProjectId} and scope = ${scope} and revoked_at is null`
  if (count === 0) throw notFound('grant', scope, 'an admin of the other project must offer it first')
}

/** Revokes a grant, for an admin of either project. Without a grant nothing happens. */
export async function revokeGrant(tx: Tx, { granteeProjectId, scope }: Grant): Promise<void> {
  await tx`
    update heddle.grants set revoked_at = now()
    where grantee_project_id = ${granteeProjectId} and scope = ${scope} and revoked_at is null`
}

/** Whether a grant of this project is active: offered, accepted and not revoked. */
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
