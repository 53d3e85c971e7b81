import type { OfferedGrant, Page } from '@heddle/client/interface'
import { nameSchema, parse, validationError } from '@heddle/contracts'
import { projectIdOf } from '@heddle/core'
import { acceptGrant, ensureProject, listGrants, offerGrant, revokeGrant } from '@heddle/store'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'

/** Allows another project to recall from this one, once it has accepted. */
export async function offer({ store, project, projectId }: EngineContext, to: string): Promise<void> {
  const other = otherProject(project, to, 'to')
  await store.inProject(projectIdOf(other), (tx) => ensureProject(tx, { projectId: projectIdOf(other), name: other }))
  await store.inProject(projectId, async (tx) => {
    await ensureProject(tx, { projectId, name: project })
    await offerGrant(tx, { granteeProjectId: projectIdOf(other), scope: 'recall' })
  })
}

/**
 * Accepts the grant that another project has offered to this one.
 *
 * @throws PermanentError `NOT_FOUND` without an offer
 */
export async function accept({ store, project, projectId }: EngineContext, from: string): Promise<void> {
  const other = projectIdOf(otherProject(project, from, 'from'))
  await store.inProject(other, (tx) => acceptGrant(tx, { granteeProjectId: projectId, scope: 'recall' }))
}

/** Revokes a grant, from either side. */
export async function revoke(
  { store, project, projectId }: EngineContext,
  sides: { readonly to: string } | { readonly from: string },
): Promise<void> {
  const isOwn = 'to' in sides
  const other = projectIdOf(isOwn ? otherProject(project, sides.to, 'to') : otherProject(project, sides.from, 'from'))
  const [grantor, granteeProjectId] = isOwn ? [projectId, other] : [other, projectId]
  await store.inProject(grantor, (tx) => revokeGrant(tx, { granteeProjectId, scope: 'recall' }))
}

export async function list({ store, projectId }: EngineContext): Promise<Page<OfferedGrant>> {
  const rows = await store.inProject(projectId, (tx) => listGrants(tx))
  const items = rows.map(({ granteeProjectId, createdAtMs, acceptedAtMs, revokedAtMs }) => ({
    toProjectId: granteeProjectId,
    createdAt: isoTime(createdAtMs),
    acceptedAt: isoTime(acceptedAtMs),
    revokedAt: isoTime(revokedAtMs),
  }))
  return { items, nextCursor: null }
}

function otherProject(own: string, given: string, field: string): string {
  const name = parse(nameSchema, given, field)
  if (name === own) throw validationError(field, 'must be another project', name)
  return name
}
