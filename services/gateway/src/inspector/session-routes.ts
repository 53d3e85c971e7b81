import { type AccessRole, type Permission, parse, permissionsFor } from '@heddle/contracts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Admit } from '../admission/access.js'
import { cookieOf, keyInCookie } from './session-cookie.js'

const bodySchema = z.strictObject({
  key: z.string().regex(/^[\w-]{1,200}$/, 'must be a key, as "heddle keys create" printed it'),
})

/** The caller, for a page that shows only what it may do. */
interface Session {
  readonly project: string
  readonly role: AccessRole
  readonly permissions: readonly Permission[]
  /** Whether the caller logged in, and can log out. */
  readonly isLoggedIn: boolean
}

/** Login with a key, for pages: the key is in a cookie that scripts cannot read. */
export function serveSessions(server: FastifyInstance, { admit }: { readonly admit: Admit }): void {
  const path = '/v1/session'
  const sessionOf = async (headers: FastifyRequest['headers'], isLoggedIn: boolean): Promise<Session> => {
    const access = await admit(headers)
    const { project, role } = access
    return { project, role, permissions: permissionsFor(access), isLoggedIn }
  }
  server.get(path, async ({ headers }) => await sessionOf(headers, keyInCookie(headers) !== undefined))
  server.post(path, async (request, reply) => {
    const { key } = parse(bodySchema, request.body, 'body')
    const session = await sessionOf({ authorization: `Bearer ${key}` }, true)
    reply.header('set-cookie', cookieOf(key, request.headers))
    return session
  })
  server.delete(path, async (request, reply) => {
    reply.header('set-cookie', cookieOf(null, request.headers))
    return { isLoggedIn: false }
  })
}
