/*
 * Headers are relayed as the lists of names and values that Node read, so that their order, their case and their
 * repetitions are kept.
 */

/** Headers of a connection, which is another one on each side of the proxy (RFC 9110, 7.6.1). */
const OF_CONNECTIONS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The prefix of the headers by which a caller addresses the proxy itself. */
const OWN_PREFIX = 'x-heddle-'

export interface SentHeaders {
  /** Names and values alternate, as the caller sent them. */
  readonly raw: readonly string[]
  /** Host of the upstream. */
  readonly host: string
  /** Length of a body that is not the caller's; undefined for the caller's own. */
  readonly bodyBytes?: number | undefined
  /** Whether the reply may not be compressed, since the proxy reads it on its way. */
  readonly isReplyRead?: boolean
}

/** The headers of a request for the upstream. */
export function headersForUpstream({ raw, host, bodyBytes, isReplyRead = false }: SentHeaders): string[] {
  const named = namedByConnection(raw)
  const sent: string[] = []
  for (const [name, value, key] of pairsOf(raw)) {
    if (key === 'host') sent.push(name, host)
    // Without it Node would frame the body of some methods otherwise.
    else if (key === 'transfer-encoding' && bodyBytes === undefined) sent.push(name, 'chunked')
    else if (key === 'content-length' && bodyBytes !== undefined) sent.push(name, String(bodyBytes))
    else if (key === 'connection') sent.push(name, 'keep-alive')
    else if (key === 'accept-encoding' && isReplyRead) sent.push(name, 'identity')
    // The proxy has answered the expectation itself.
    else if (!isDropped(key, named) && !key.startsWith(OWN_PREFIX) && key !== 'expect') sent.push(name, value)
  }
  if (!hasName(sent, 'host')) sent.unshift('Host', host)
  if (bodyBytes !== undefined && !hasName(sent, 'content-length')) sent.push('Content-Length', String(bodyBytes))
  return sent
}

/** The headers of a reply for the caller, followed by those of the proxy. */
export function headersForCaller(raw: readonly string[], own: Readonly<Record<string, string>>): string[] {
  const named = namedByConnection(raw)
  const sent: string[] = []
  for (const [name, value, key] of pairsOf(raw)) {
    if (!isDropped(key, named)) sent.push(name, value)
  }
  for (const [name, value] of Object.entries(own)) sent.push(name, value)
  return sent
}

function isDropped(key: string, named: ReadonlySet<string>): boolean {
  return OF_CONNECTIONS.has(key) || named.has(key)
}

/** Further headers of the connection, which its own header names. */
function namedByConnection(raw: readonly string[]): ReadonlySet<string> {
  const named = new Set<string>()
  for (const [, value, key] of pairsOf(raw)) {
    if (key !== 'connection') continue
    for (const name of value.split(',')) named.add(name.trim().toLowerCase())
  }
  return named
}

function hasName(raw: readonly string[], wanted: string): boolean {
  return raw.some((text, index) => index % 2 === 0 && text.toLowerCase() === wanted)
}

function* pairsOf(raw: readonly string[]): Generator<readonly [name: string, value: string, key: string]> {
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? ''
    yield [name, raw[index + 1] ?? '', name.toLowerCase()]
  }
}
