import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type Access, type Permission, permissionsOf } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'
import { Refused } from './problems.js'

/** Says for whom a request is answered, or throws. The one place where keys are read. */
export type Admit = (headers: IncomingHttpHeaders) => Promise<Access>

/** Where keys are kept. */
export interface Keys {
  /** For whom a key stands; null for what is none, or is revoked. */
  read(key: string): Promise<Access | null>
  /** Whether the project that is served without keys ever had one. */
  hasAny(): Promise<boolean>
}

export interface AdmitOptions {
  /** The project of those who need no key. */
  readonly project: string
  /** Nobody is let in without a key, whether there is one or not. */
  readonly isOpenToOthers: boolean
  readonly clock: Clock
  keys(): Keys
}

/** How long a key that was let in is not looked up again: as long may a revoked one still work. */
const TRUSTED_MS = 2_000
/** Keys that are remembered at once. */
const REMEMBERED_MAX = 10_000

/**
 * With a key, a caller is of the key's project. Without one everybody on this machine is the admin of the one project, until
 * that has had its first key: from then on, and for other machines always, a key is needed.
 */
export function createAdmit({ project, isOpenToOthers, clock, keys }: AdmitOptions): Admit {
  const known = new Map<string, { readonly access: Access; readonly untilMs: number }>()
  let none = { untilMs: 0 }
  let isDemanded = isOpenToOthers

  return async ({ authorization }) => {
    if (authorization !== undefined) return await byKey(authorization)
    if (!isDemanded && none.untilMs <= clock.nowMs()) {
      isDemanded = await keys().hasAny()
      none = { untilMs: clock.nowMs() + TRUSTED_MS }
    }
    if (isDemanded) throw unauthorized('authorization: a key is needed')
    return { project, role: 'admin' }
  }

  async function byKey(authorization: string): Promise<Access> {
    const [, key] = /^Bearer +(\S{1,200})$/i.exec(authorization) ?? []
    if (key === undefined) throw unauthorized('authorization: must be Bearer and a key')
    // By its hash: what is remembered is of no use to anybody who sees it.
    const name = createHash('sha256').update(key).digest('base64')
    const remembered = known.get(name)
    if (remembered !== undefined && remembered.untilMs > clock.nowMs()) return remembered.access
    known.delete(name)
    const access = await keys().read(key)
    if (access === null) throw unauthorized('authorization: this key is not known, or was revoked')
    if (known.size >= REMEMBERED_MAX) known.clear()
    known.set(name, { access, untilMs: clock.nowMs() + TRUSTED_MS })
    return access
  }
}

function unauthorized(detail: string): Refused {
  return new Refused(
    {
      code: 'UNAUTHORIZED',
      detail,
      field: 'authorization',
      hint: 'Send "Authorization: Bearer KEY"; an admin makes one with: heddle keys create',
    },
    { headers: { 'www-authenticate': 'Bearer realm="heddle"' } },
  )
}

/** @throws Refused with 403 where a role does not hold the permission */
export function checkPermission({ role }: Access, needs: Permission): void {
  if (permissionsOf[role].includes(needs)) return
  throw new Refused({
    code: 'FORBIDDEN',
    detail: `authorization: a key of the role ${role} may not do this`,
    field: 'authorization',
    received: role,
    hint: `It needs the permission ${needs}; an admin makes such a key with: heddle keys create`,
  })
}
