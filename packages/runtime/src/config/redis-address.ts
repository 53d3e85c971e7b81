/** A Redis server, or the primary that sentinels name. */
export type RedisAddress =
  | { readonly kind: 'server'; readonly url: string }
  | {
      readonly kind: 'sentinel'
      readonly sentinels: readonly { readonly host: string; readonly port: number }[]
      /** The name under which they monitor the primary. */
      readonly name: string
      /** Of the primary, as the database is; sentinels are reached without a password. */
      readonly username?: string
      readonly password?: string
      readonly database: number
      readonly isEncrypted: boolean
    }

/** `redis+sentinel://user:password@host:port,host:port/name/database`; the user, ports and the database may be left out. */
const SENTINEL = /^(rediss?)\+sentinel:\/\/(?:([^/]*)@)?([^/@?#]+)\/([^/?#]+)(?:\/(\d{1,3}))?$/
const HOST = /^(\[[0-9a-f:]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/i
const SENTINEL_PORT = 26_379

/** @returns null for anything that is no address of a Redis */
export function parseRedisAddress(text: string): RedisAddress | null {
  const [matched, protocol, credentials, hosts = '', name = '', database = '0'] = SENTINEL.exec(text) ?? []
  if (matched === undefined) {
    const url = URL.canParse(text) ? new URL(text) : null
    return url !== null && /^rediss?:$/.test(url.protocol) ? { kind: 'server', url: text } : null
  }
  const sentinels = hosts.split(',').map(parseHost)
  const login = parseCredentials(credentials)
  const primary = decoded(name)
  if (login === null || primary === null || !sentinels.every((each) => each !== null)) return null
  const isEncrypted = protocol === 'rediss'
  return {
    kind: 'sentinel',
    sentinels,
    name: primary,
    ...login,
    database: Number(database),
    isEncrypted,
  }
}

function parseHost(text: string): { host: string; port: number } | null {
  const [matched, host = '', port = String(SENTINEL_PORT)] = HOST.exec(text) ?? []
  if (matched === undefined || Number(port) > 65_535) return null
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** Escaped as in any URL. */
function parseCredentials(text: string | undefined): { username?: string; password?: string } | null {
  if (text === undefined || text === '') return {}
  const [user = '', ...rest] = text.split(':')
  const [username, password] = [decoded(user), decoded(rest.join(':'))]
  if (username === null || password === null) return null
  return { ...(username && { username }), ...(password && { password }) }
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
