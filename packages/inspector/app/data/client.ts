import { createClient } from '@heddle/client/http'

/** The gateway's address as this page sees it: the page is at `ui/` below it, whatever path a proxy adds. */
const gateway = new URL('..', document.baseURI)

/** The browser adds the cookie of the login; it counts only in requests with this header. */
const pageFetch: typeof fetch = (address, options = {}) => {
  const headers = new Headers(options.headers)
  headers.set('x-heddle-page', 'inspector')
  return fetch(address, { ...options, headers, credentials: 'same-origin' })
}

export const client = createClient({ url: gateway.href, fetch: pageFetch })

export interface Session {
  readonly project: string
  readonly role: string
  readonly permissions: readonly string[]
  readonly isLoggedIn: boolean
}

/** A refusal of the gateway, with the words of its problem document. */
export class SessionRefused extends Error {
  override name = 'SessionRefused'
  constructor(
    readonly status: number,
    detail: string,
    readonly hint: string | undefined,
  ) {
    super(detail)
  }
}

/** Reads from an operation that the client has no method for. */
export async function ask<Answer>(path: string): Promise<Answer> {
  const response = await pageFetch(new URL(path, gateway))
  const answer = await response.json()
  if (!response.ok) throw new SessionRefused(response.status, answer.detail ?? response.statusText, answer.hint)
  return answer
}

async function session(method: 'GET' | 'POST' | 'DELETE', body?: object): Promise<Session> {
  const response = await pageFetch(new URL('v1/session', gateway), {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const answer = (await response.json().catch(() => ({}))) as Session & { detail?: string; hint?: string }
  if (!response.ok)
    throw new SessionRefused(response.status, answer.detail ?? 'the gateway does not answer', answer.hint)
  return answer
}

export const loadSession = () => session('GET')
export const logIn = (key: string) => session('POST', { key })
export const logOut = () => session('DELETE')

/** The same request for a terminal. */
export function curlOf(path: string): string {
  return `curl -s ${new URL(path, gateway).href} -H "authorization: Bearer $HEDDLE_KEY"`
}
