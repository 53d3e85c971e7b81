import { isIP, isIPv4 } from 'node:net'
import { Refused } from '../http/problems.js'

/*
 * Without keys, whoever reaches the gateway may do everything. So it is reached from this machine alone, and a browser on it
 * is kept out: a page can send requests to loopback, and with a name of its own that resolves to 127.0.0.1 (DNS rebinding)
 * it could even read the answers. It can choose neither the `Host` nor the `Origin` that the browser sends with them. With
 * keys the same is checked, against the names by which the server is known: a page has no key, but whoever sits before it may.
 */

/** Whether only this machine reaches an address. */
export function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || host === '::1' || host === '::ffff:127.0.0.1' || (isIPv4(host) && host.startsWith('127.'))
  )
}

const LOOPBACK_HOST = /^(?:127(?:\.\d{1,3}){3}|localhost|\[::1\])(?::\d{1,5})?$/i

export interface OriginHeaders {
  readonly host?: string | undefined
  readonly origin?: string | undefined
}

export interface OriginRules {
  /** Names by which others ask, without a port. */
  readonly hosts: readonly string[]
  /** Whether it may be asked by any address of this machine, which no page of somebody else can be loaded from. */
  readonly addresses: boolean
}

export type CheckOrigin = (headers: OriginHeaders) => void

/**
 * Refuses what did not mean this server, or what a page of another one sent.
 *
 * @throws Refused with 403, from the function it returns
 */
export function createCheckOrigin({ hosts, addresses }: OriginRules): CheckOrigin {
  const names = new Set(hosts.map((name) => name.toLowerCase()))
  return ({ host = '', origin }) => {
    const isLocal = LOOPBACK_HOST.test(host)
    if (!isLocal && !names.has(nameOf(host)) && !(addresses && isAddress(nameOf(host)))) {
      const isLocalOnly = names.size === 0 && !addresses
      throw new Refused({
        code: 'FORBIDDEN',
        detail: isLocalOnly ? 'host: this server answers on loopback only' : 'host: this server has another name',
        field: 'host',
        received: shortened(host),
        hint: isLocalOnly
          ? 'Ask it as 127.0.0.1, localhost or [::1].'
          : 'Ask it by a name that HEDDLE_HOSTS lists, or add this one there.',
      })
    }
    if (origin === undefined || isSame(origin, host, { orSecure: !isLocal })) return
    throw new Refused({
      code: 'FORBIDDEN',
      detail: 'origin: pages of other servers are not answered',
      field: 'origin',
      received: shortened(origin),
      hint: 'Ask from a program, or from a page of this server.',
    })
  }
}

/** A host without its port, in small letters; empty for what is none. */
function nameOf(host: string): string {
  return /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase() ?? ''
}

function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0
}

/** What stands before the gateway may have ended TLS. */
function isSame(origin: string, host: string, { orSecure }: { orSecure: boolean }): boolean {
  const given = origin.toLowerCase()
  const own = host.toLowerCase()
  return given === `http://${own}` || (orSecure && given === `https://${own}`)
}

function shortened(text: string): string {
  return JSON.stringify(text.slice(0, 80))
}
