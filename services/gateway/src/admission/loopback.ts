import { isIP, isIPv4 } from 'node:net'
import { Refused } from '../http/problems.js'

/*
 * Without keys, anybody who reaches the gateway may do everything, so it listens on loopback only and refuses foreign web
 * pages. A page can send requests to loopback, and a domain that resolves to 127.0.0.1 (DNS rebinding) would let it read
 * the answers, but it cannot choose the `Host` and `Origin` that the browser sends. With keys, the same check runs against
 * the configured names of the server: a page has no key, but its user may.
 */

/** Whether an address can be reached from this machine only. */
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
  /** Names under which other machines reach the server, without a port. */
  readonly hosts: readonly string[]
  /** Whether any IP address is accepted as a host; no foreign page can be loaded from an address of this machine. */
  readonly addresses: boolean
}

export type CheckOrigin = (headers: OriginHeaders) => void

/**
 * Refuses requests for another host, and requests sent by pages of other servers.
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
        detail: isLocalOnly
          ? 'host: this server answers on loopback only'
          : 'host: this server does not have that name',
        field: 'host',
        received: shortened(host),
        hint: isLocalOnly
          ? 'Use 127.0.0.1, localhost or [::1] in the address.'
          : 'Use a name in HEDDLE_HOSTS, or add this one there.',
      })
    }
    if (origin === undefined || isSame(origin, host, { orSecure: !isLocal })) return
    throw new Refused({
      code: 'FORBIDDEN',
      detail: 'origin: requests from pages of other servers are refused',
      field: 'origin',
      received: shortened(origin),
      hint: 'Send requests from a program, or from a page of this server.',
    })
  }
}

/** A host without its port, in lower case; empty if it cannot be parsed. */
function nameOf(host: string): string {
  return /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase() ?? ''
}

function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0
}

/** `orSecure` also accepts `https`, because a proxy may terminate TLS. */
function isSame(origin: string, host: string, { orSecure }: { orSecure: boolean }): boolean {
  const given = origin.toLowerCase()
  const own = host.toLowerCase()
  return given === `http://${own}` || (orSecure && given === `https://${own}`)
}

function shortened(text: string): string {
  return JSON.stringify(text.slice(0, 80))
}
