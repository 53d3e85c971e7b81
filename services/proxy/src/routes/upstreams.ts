/** The protocol that a server speaks: Anthropic's messages, or OpenAI's chat completions and responses. */
export type UpstreamProtocol = 'anthropic' | 'openai'

export interface UpstreamConfig {
  /** `https://api.openai.com/v1` */
  readonly url: string
  readonly protocol: UpstreamProtocol
  /** The server that answers `POST /responses/compact`. Default `pass`: the upstream. */
  readonly compaction?: 'heddle' | 'pass' | undefined
}

/** A provider's server, or another that speaks its protocol. Its address comes from the configuration only. */
export interface Upstream {
  /** The first part of the path under which the proxy serves it. */
  readonly name: string
  readonly protocol: UpstreamProtocol
  /** Whether Heddle compacts conversations in its place. */
  readonly isCompactedHere: boolean
  readonly isSecure: boolean
  readonly hostname: string
  readonly port: number
  /** Host with the port if it is not the usual one, as in the header `host`. */
  readonly host: string
  /** Path of its address, without a slash at the end. */
  readonly basePath: string
}

export function upstreamsOf(configs: Readonly<Record<string, UpstreamConfig>>): ReadonlyMap<string, Upstream> {
  return new Map(Object.entries(configs).map(([name, config]) => [name, upstreamOf(name, config)]))
}

function upstreamOf(name: string, { url, protocol, compaction }: UpstreamConfig): Upstream {
  const { protocol: scheme, hostname, port, host, pathname } = new URL(url)
  const isSecure = scheme === 'https:'
  return {
    name,
    protocol,
    isCompactedHere: protocol === 'openai' && compaction === 'heddle',
    isSecure,
    // An IPv6 address is written in brackets in a URL only.
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isSecure ? 443 : 80) : Number(port),
    host,
    basePath: pathname.endsWith('/') ? pathname.slice(0, -1) : pathname,
  }
}
