import { z } from 'zod'

/**
 * What an operation asks of its caller. `produce`: what a producer or a running agent does to its own threads. `read`:
 * whatever changes nothing that others see, building a context included. `admin`: what configures, and what removes for good.
 */
export type Permission = 'produce' | 'read' | 'admin'

/** What a caller is. `agent` is a producer and a reader in one: what an agent's own loop needs, and no more. */
export const accessRoles = ['produce', 'read', 'agent', 'admin'] as const
export const accessRoleSchema = z.enum(accessRoles, { error: `must be one of ${accessRoles.join(', ')}` })
export type AccessRole = z.infer<typeof accessRoleSchema>

export const permissionsOf: Readonly<Record<AccessRole, readonly Permission[]>> = {
  produce: ['produce'],
  read: ['read'],
  agent: ['produce', 'read'],
  admin: ['produce', 'read', 'admin'],
}

/** For whom a request is answered. */
export interface Access {
  readonly project: string
  readonly role: AccessRole
}
