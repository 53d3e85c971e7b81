import { z } from 'zod'
import type { ProxyMode } from './proxy/modes.js'

/**
 * The permission that an operation requires. `produce`: operations of a producer or a running agent on its own threads.
 * `read`: operations without an effect visible to others, building a context included. `admin`: configuration, and
 * permanent removal. `operate`: what concerns all projects of the deployment; only admins of the project that the gateway
 * runs for have it.
 */
export type Permission = 'produce' | 'read' | 'admin' | 'operate'

/** Roles of callers. `agent` combines producer and reader: exactly what an agent's own loop needs. */
export const accessRoles = ['produce', 'read', 'agent', 'admin'] as const
export const accessRoleSchema = z.enum(accessRoles, { error: `must be one of ${accessRoles.join(', ')}` })
export type AccessRole = z.infer<typeof accessRoleSchema>

const ofRole: Readonly<Record<AccessRole, readonly Permission[]>> = {
  produce: ['produce'],
  read: ['read'],
  agent: ['produce', 'read'],
  admin: ['produce', 'read', 'admin'],
}

/** The caller of a request, and its permissions. */
export interface Access {
  readonly project: string
  readonly role: AccessRole
  /** Whether the project is that of the deployment's operators: its admins may do what concerns all projects. */
  readonly isOperators?: boolean
  /** The mode of the proxy for requests with its key; absent if the agent or the configuration decides. */
  readonly proxyMode?: ProxyMode | undefined
}

/** The facts about a caller that decide its permissions. */
export type Rights = Pick<Access, 'role' | 'isOperators'>

/** All permissions of a caller. */
export function permissionsFor({ role, isOperators }: Rights): readonly Permission[] {
  return role === 'admin' && isOperators === true ? [...ofRole.admin, 'operate'] : ofRole[role]
}

/** Whether a caller has a permission. */
export function mayDo(rights: Rights, needs: Permission): boolean {
  return permissionsFor(rights).includes(needs)
}
