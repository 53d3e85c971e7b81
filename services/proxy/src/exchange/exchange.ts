import type { IncomingMessage, ServerResponse } from 'node:http'
import { newId } from '@heddle/client/calls'
import type { ProxyMode } from '@heddle/contracts'
import { expandCompactions, type Protocol } from '@heddle/core'
import { within } from '@heddle/runtime'
import { askedMode } from '../modes/asked-mode.js'
import { answerRecalls } from '../recall/answer-recalls.js'
import { headersForUpstream } from '../relay/headers.js'
import { relay } from '../relay/relay.js'
import { bodyOf, RequestBody } from '../relay/request-body.js'
import type { Target } from '../routes/target.js'
import { type Decision, decide, observe } from './decide.js'
import type { ExchangeDeps } from './deps.js'
import { keepExchange } from './keep.js'
import type { RecalledFacts } from './recalled-facts.js'
import { ReplyCopy } from './reply-copy.js'
import type { Sending } from './send.js'

export interface Exchanged {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly target: Target
  readonly protocol: Protocol
  /** Null if nothing is to be stored. */
  readonly project: string | null
  /** The mode that the caller's key names. */
  readonly keyMode: ProxyMode | undefined
  readonly startedMs: number
}

/** Largest body of a request to Anthropic; a longer one is relayed unread, and refused by the provider. */
const BODY_BYTES_MAX = 32 * 1024 * 1024

/**
 * Longest time, in milliseconds, for which reading a request that is sent already waits for its reply to begin: until then the
 * process relays. A provider that is slower than that leaves time to read.
 */
const READING_DELAY_MS = 10

/** Relays a request of a conversation and its reply, and stores both afterwards. */
export async function exchange(deps: ExchangeDeps, exchanged: Exchanged): Promise<void> {
  const { request, response, target, protocol, project, keyMode, startedMs } = exchanged
  const { clock, metrics, memory, connections } = deps
  const { method = 'POST', rawHeaders, headers } = request
  const id = newId()
  const copy = memory.open()
  const body = new RequestBody(request, { bytesMax: BODY_BYTES_MAX, reserve: copy.reserve })
  const reply = new ReplyCopy(copy)
  const asked = await askedMode(deps, { headers, project, keyMode })
  const { mode } = asked
  let decision: Decision | null = null
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })

  const expanded = expandedBody(target, body)
  const deciding = body.arrived.then(async (isKept): Promise<Decision> => {
    if (project === null) return { sending: null, passed: 'no-project', isControl: false }
    // Its parts are joined then, too.
    if (mode === 'observe' && isKept) await within(begun, { timeoutMs: READING_DELAY_MS, late: () => {}, clock })
    const { body: bytes, thread } = (await expanded) ?? { body: body.join(), thread: null }
    if (bytes === null) return { sending: null, passed: 'no-copy', isControl: false }
    const received = { protocol, project, headers, body: bytes, thread }
    return mode === 'observe' ? await observe(deps, received) : await decide(deps, received, mode)
  })
  const decided = deciding.then((made) => {
    decision = made
    return made
  })
  // A request that is only observed does not wait.
  const planned = mode === 'observe' || project === null ? null : ((await decided).sending?.rendered ?? null)
  const rendered = planned ?? (expanded === null ? null : (await expanded).changed)
  const addedMs = clock.monotonicMs() - startedMs
  let firstByteMs: number | null = null
  let recalled: Promise<RecalledFacts> | null = null
  const recalling = rendered === null ? null : recallingIn(decision)
  metrics.sent(target.upstream.name, addedMs)
  if (response.destroyed) return finish(false)
  relay(connections, response, {
    target,
    method,
    headers: headersForUpstream({
      raw: rawHeaders,
      host: target.upstream.host,
      bodyBytes: rendered?.length,
      isReplyRead: recalling !== null,
    }),
    body: rendered === null ? body : bodyOf(rendered),
    onHead(head) {
      firstByteMs = clock.monotonicMs() - startedMs
      metrics.replied(target.upstream.name, protocol, head.statusCode ?? 0, firstByteMs)
      reply.begin(head)
      return answerHeaders(id, mode, decision)
    },
    takeReply(head, own) {
      if (recalling === null) return false
      const onBytes = (bytes: Buffer) => reply.add(bytes)
      const taken = { sending: recalling, target, rawHeaders, response, onBytes }
      recalled = answerRecalls(deps, taken, { reply: head, headers: own })
      return recalled !== null
    },
    onBytes(bytes) {
      reply.add(bytes)
      begin()
    },
    onEnd(end) {
      if (end === 'unreachable') metrics.unreachable(target.upstream.name)
      finish(end === 'whole')
    },
  })

  function finish(isWhole: boolean): void {
    begin()
    void decided
      .then(async (made) =>
        keepExchange(deps, {
          id,
          upstream: target.upstream.name,
          decision: made,
          asked,
          reply,
          isWhole,
          addedMs,
          firstByteMs,
          recalled: await recalled,
        }),
      )
      .catch((error: unknown) => deps.log.error({ error }, 'an exchange was not stored'))
      .finally(() => {
        body.forget()
        copy.release()
      })
  }
}

/** For an upstream that does not know Heddle's own compactions: the body with what they stand for. */
function expandedBody({ upstream, protocol }: Target, received: RequestBody) {
  if (!upstream.isCompactedHere || protocol !== 'openai-responses') return null
  return received.whole().then((bytes) => {
    if (bytes === null) return { body: null, thread: null, changed: null }
    const { body, thread } = expandCompactions(bytes)
    return { body, thread, changed: body === bytes ? null : body }
  })
}

/** A request with the proxy's own tool, whose calls the proxy answers. */
function recallingIn(decision: Decision | null): Sending | null {
  const { sending = null } = decision ?? {}
  return sending?.plan.hasRecallTool === true ? sending : null
}

/** The headers that the proxy adds to a reply. */
function answerHeaders(id: string, mode: ProxyMode, decision: Decision | null): Record<string, string> {
  const { passed = null, sending = null } = decision ?? {}
  const tokens = sending?.plan.tokens
  return {
    'x-heddle-context': id,
    'x-heddle-mode': passed === null ? (sending?.mode ?? mode) : `passed; reason=${passed}`,
    ...(tokens !== undefined && {
      'x-heddle-tokens': `in=${tokens.received};sent=${tokens.sent};cached=${tokens.cached}`,
    }),
  }
}
