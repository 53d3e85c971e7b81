import type { IncomingHttpHeaders } from 'node:http'
import { type Access, mayDo, type Permission, type Rights } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'
import { Refused } from '../http/problems.js'
import { keyInCookie } from '../inspector/session-cookie.js'
import { KeyCache, TRUSTED_MS } from './key-cache.js'

/** Returns the project, role and mode of a caller, or throws. Only its implementation reads keys. */
export type Admit = (headers: IncomingHttpHeaders) => Promise<Access>

export interface Keys {
  /** The project, role and mode of a key; null if it is unknown or revoked. */
  read(key: string): Promise<Access | null>
  /** Whether the project that is served without keys ever had a key. */
  hasAny(): Promise<boolean>
}

export interface AdmitOptions {
  /** The project of callers without a key, and of the deployment's operators. */
  readonly project: string
  /** Every caller needs a key, even while the project has no keys. */
  readonly isOpenToOthers: boolean
  readonly clock: Clock
  keys(): Keys
}

const KEY_HEADER = 'x-heddle-key'

/**
 * A caller with a key, in `authorization` or `x-heddle-key`, gets the project of that key. Callers on this machine without a key
 * are admin of the one project until it gets its first key; from then on a key is required. Other machines always need one. A
 * cookie with a revoked key counts as none. That project is the operators' one.
 */
export function createAdmit({ project, isOpenToOthers, clock, keys }: AdmitOptions): Admit {
  const known = new KeyCache({ clock, read: (key) => keys().read(key) })
  let none = { untilMs: 0 }
  let isDemanded = isOpenToOthers

  return async (headers) => {
    const access = await accessOf(headers)
    return access.project === project ? { ...access, isOperators: true } : access
  }

  async function accessOf(headers: IncomingHttpHeaders): Promise<Access> {
    if (headers.authorization !== undefined) return await byKey(headers.authorization)
    // Configurations of agents fill it from a variable, which is empty where no key is needed.
    const own = headers[KEY_HEADER]
    if (typeof own === 'string' && own !== '') return await byKey(`Bearer ${own}`)
    const cookie = keyInCookie(headers)
    const access = cookie === undefined ? null : await known.read(cookie)
    if (access !== null) return access
    if (!isDemanded && none.untilMs <= clock.monotonicMs()) {
      isDemanded = await keys().hasAny()
      none = { untilMs: clock.monotonicMs() + TRUSTED_MS }
    }
    if (isDemanded) throw unauthorized('authorization: a key is required')
    return { project, role: 'admin' }
  }

  async function byKey(authorization: string): Promise<Access> {
    const [, key] = /^Bearer +(\S{1,200})$/i.exec(authorization) ?? []
    if (key === undefined) throw unauthorized('authorization: must be "Bearer" and a key')
    const access = await known.read(key)
    if (access === null) throw unauthorized('authorization: this key is unknown or was revoked')
    return access
  }
}

function unauthorized(detail: string): Refused {
  return new Refused(
    {
      code: 'UNAUTHORIZED',
      detail,
      field: 'authorization',
      hint: 'Send "Authorization: Bearer KEY"; an admin creates keys with: heddle keys create',
    },
    { headers: { 'www-authenticate': 'Bearer realm="heddle"' } },
  )
}

/** @throws Refused with 403 if the role lacks the permission */
export function checkPermission(access: Rights, needs: Permission): void {
  if (mayDo(access, needs)) return
  const { role } = access
  throw new Refused({
    code: 'FORBIDDEN',
    detail: `authorization: a key of the role ${role} may not do this`,
    field: 'authorization',
    received: role,
    hint:
      needs === 'operate'
        ? 'It concerns all projects, so it needs an admin key of the project that the gateway runs for.'
        : `It needs the permission ${needs}; an admin creates such a key with: heddle keys create`,
  })
}
