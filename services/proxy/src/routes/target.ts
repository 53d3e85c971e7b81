import type { Protocol } from '@heddle/core'
import type { Upstream } from './upstreams.js'

/** Where a request goes. */
export interface Target {
  readonly upstream: Upstream
  /** Path and query at the upstream. */
  readonly path: string
  /** Null for a request that is passed on unread, such as one for the list of models. */
  readonly protocol: Protocol | null
  /** Whether Heddle answers it: `POST /responses/compact` for an upstream that cannot. */
  readonly isCompaction: boolean
}

/**
 * The target of a request by its path, such as `/anthropic/v1/messages?beta=true`.
 *
 * @returns null if no upstream has the path, or if the path leaves that of its upstream
 */
export function targetOf(
  upstreams: ReadonlyMap<string, Upstream>,
  { method, url }: { readonly method: string; readonly url: string },
): Target | null {
  const upstream = upstreams.get(nameIn(url))
  if (upstream === undefined) return null
  const rest = url.slice(upstream.name.length + 1)
  if (leavesItsFolder(rest)) return null
  const path = `${upstream.basePath}${withoutVersion(rest, upstream.basePath)}`
  const isPost = method === 'POST'
  return {
    upstream,
    path,
    protocol: isPost ? protocolOf(upstream, rest) : null,
    isCompaction: isPost && upstream.isCompactedHere && callIn(rest) === '/responses/compact',
  }
}

/** The first part of a path; empty for anything that is not one, such as a whole address. */
export function nameIn(url: string): string {
  return /^\/([^/?#]+)/.exec(url)?.[1] ?? ''
}

/** A server may resolve such a path to another part of its host than the configured one. */
function leavesItsFolder(path: string): boolean {
  const [folders = ''] = path.split('?')
  return folders.split(/[/\\]|%2f|%5c/i).some((part) => /^(\.|%2e){1,2}$/i.test(part))
}

/** The version is a part of OpenAI's base address and of Anthropic's paths: `/v1` after an address with `/v1` is the same. */
function withoutVersion(rest: string, basePath: string): string {
  const version = /\/v\d+$/.exec(basePath)?.[0]
  if (version === undefined || !rest.startsWith(version)) return rest
  const after = rest.slice(version.length)
  return after === '' || /^[/?]/.test(after) ? after : rest
}

function protocolOf({ protocol }: Upstream, rest: string): Protocol | null {
  const call = callIn(rest)
  if (protocol === 'anthropic') return call === '/messages' ? 'anthropic' : null
  if (call === '/chat/completions') return 'openai-chat'
  return call === '/responses' ? 'openai-responses' : null
}

/** The path of a call without its version. */
function callIn(rest: string): string {
  const [path = ''] = rest.split('?')
  return path.replace(/^\/v\d+(?=\/)/, '')
}
