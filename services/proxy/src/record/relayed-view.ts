import { hash } from 'node:crypto'
import type { Epoch } from '@heddle/contracts'
import {
  headDigest,
  type ProviderRequest,
  proxiedMessageId,
  type RequestPlan,
  recordedHead,
  requestDelta,
} from '@heddle/core'
import type { RelayedView } from '../backend.js'

/** A request whose view is stored, as far as the next one has to be compared with it. */
export interface Viewed {
  readonly id: string
  readonly depth: number
  /** Requests of its conversation up to it. */
  readonly requests: number
  readonly entries: number
  readonly lastHash: string
  readonly head: string
}

/** Views between one and the first that it is based on; all of them are read to show it. */
const DEPTH_MAX = 500
/** Requests that the next one may be based on: more than one where several are answered at a time. */
const VIEWED_MAX = 8

export interface Viewing {
  readonly id: string
  readonly threadId: string
  readonly request: ProviderRequest
  readonly body: Uint8Array
  /** Null if it was sent as it came. */
  readonly rendered: Uint8Array | null
  readonly plan: RequestPlan
  /** The state of the conversation before it. */
  readonly before: Epoch | null
  /** Ids of the messages of an entry. */
  messagesOf(entry: number): readonly string[]
  readonly viewed: readonly Viewed[]
}

/** The record of a request, as a difference to one before it. */
export function relayedView(viewing: Viewing): { readonly view: RelayedView; readonly viewed: Viewed } {
  const { id, threadId, request, body, rendered, plan, before } = viewing
  const base = baseOf(viewing)
  const head = headDigest(request, body)
  const fields = base?.head === head ? null : recordedHead(request, body)
  const { delta, texts } = requestDelta({
    request,
    plan,
    before: base === undefined ? null : before,
    head: fields?.head ?? null,
    messagesOf: viewing.messagesOf,
    resultOf: (callId) => proxiedMessageId(threadId, `result ${callId}`),
  })
  const depth = base === undefined ? 0 : base.depth + 1
  const hashReceived = hash('sha256', body, 'buffer')
  const view: RelayedView = {
    id,
    baseId: base?.id ?? null,
    depth,
    delta,
    texts: [...texts, ...(fields?.texts ?? [])],
    bytesReceived: body.length,
    bytesSent: (rendered ?? body).length,
    hashReceived,
    hashSent: rendered === null ? hashReceived : hash('sha256', rendered, 'buffer'),
  }
  const { length: entries } = request.entries
  const lastHash = request.entries.at(-1)?.hash ?? ''
  return { view, viewed: { id, depth, head, entries, lastHash, requests: (before?.requests ?? 0) + 1 } }
}

export function withViewed(before: readonly Viewed[], viewed: Viewed): readonly Viewed[] {
  return [...before, viewed].slice(-VIEWED_MAX)
}

/** The stored view of the request after which the conversation was in the state `before`. */
function baseOf({ before, viewed }: Viewing): Viewed | undefined {
  if (before === null) return undefined
  return viewed.findLast(
    ({ requests, entries, lastHash, depth }) =>
      requests === before.requests &&
      entries === before.entries.length &&
      lastHash === before.entries.at(-1) &&
      depth < DEPTH_MAX,
  )
}
