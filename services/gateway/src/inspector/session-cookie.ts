import type { IncomingHttpHeaders } from 'node:http'

/*
 * The inspector logs in with a key, which the browser then keeps in a cookie that no script can read. Without `Path` it
 * belongs to the folder of the address that set it, `/v1/` or `/PREFIX/v1/` behind a proxy, and without `Max-Age` it ends with the browser.
 */

const NAME = 'heddle-key'
/**
 * A cookie counts only in requests with this header. Pages of other servers cannot send it: the browser would first ask
 * this server for its permission, which it never gives. `SameSite` alone does not cover other ports and subdomains.
 */
const PAGE_HEADER = 'x-heddle-page'

/** The key of a request that the inspector sent; undefined without one. */
export function keyInCookie({ cookie, [PAGE_HEADER]: page }: IncomingHttpHeaders): string | undefined {
  if (page === undefined || cookie === undefined) return undefined
  return new RegExp(`(?:^|;\\s*)${NAME}=([\\w-]{1,200})(?:;|$)`).exec(cookie)?.[1]
}

/** @param key null removes the cookie */
export function cookieOf(key: string | null, { origin }: IncomingHttpHeaders): string {
  const attributes = ['HttpOnly', 'SameSite=Strict']
  // A proxy may terminate TLS: the origin is the address as the browser sees it.
  if (origin?.startsWith('https:')) attributes.push('Secure')
  if (key === null) attributes.push('Max-Age=0')
  return [`${NAME}=${key ?? ''}`, ...attributes].join('; ')
}
