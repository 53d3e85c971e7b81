import type { Cover, Epoch, ProxyMode } from '@heddle/contracts'
import {
  advanceEpoch,
  checkRendered,
  coverSizes,
  defaultReplacementPolicy,
  firstKeptEntry,
  makeCover,
  type ProviderRequest,
  planRequest,
  pricesOf,
  proxiedResultReference,
  type RequestPlan,
  RequestReader,
  renderPlan,
  summarizeExtractively,
  withCountedTokens,
} from '@heddle/core'
import { coverSources } from './cover-sources.js'
import type { Door } from './door.js'
import type { RecordedRequest, ReplaySession } from './session.js'

/** The thread of every replayed session. */
const THREAD = '6e0f3f3a-6c3f-5d7e-8f0a-6a4f0e8b7c11'

interface Sent {
  readonly request: ProviderRequest
  readonly sent: ProviderRequest
  readonly body: Uint8Array
  readonly plan: RequestPlan
  readonly recorded: RecordedRequest
}

/** The rules of the proxy without its service: covers are prepared at once, by the summary without a model. */
export function proxyDoor(session: ReplaySession, mode: ProxyMode, clock: { nowMs(): number }): Door {
  const reader = new RequestReader()
  const policy = defaultReplacementPolicy
  const { prices } = pricesOf(session.protocol, session.model)
  let epoch: Epoch | null = null
  let prepared: Cover | null = null
  let last: Sent | null = null

  const plan = (request: ProviderRequest, body: Uint8Array, modeNow: ProxyMode) =>
    planRequest({
      request,
      body,
      epoch,
      mode: modeNow,
      policy,
      prices,
      prepared,
      referenceOf: (callId) => proxiedResultReference(THREAD, callId),
      nowMs: clock.nowMs(),
    })

  return {
    send(recorded, text) {
      const body = Buffer.from(text)
      const request = reader.read(session.protocol, body)
      if (request === null) throw new Error(`${session.name}: a request could not be read`)
      const planned = plan(request, body, mode)
      const rendered = renderPlan(request, body, planned)
      const sent = rendered === body ? request : reader.read(session.protocol, rendered)
      const faults = checkRendered(request, sent, { epoch, plan: planned })
      if (faults.length > 0 || sent === null) {
        process.stderr.write(`${session.name}: the original was sent: ${faults.join(', ')}\n`)
        const passed = plan(request, body, 'observe')
        last = { request, sent: request, body, plan: passed, recorded }
        return { body: text, isNewEpoch: passed.isNewEpoch }
      }
      last = { request, sent, body, plan: planned, recorded }
      return { body: Buffer.from(rendered).toString(), isNewEpoch: planned.isNewEpoch }
    },
    replied(_reply, { inTokens }) {
      if (last === null) return null
      const { request, sent, body, plan: planned, recorded } = last
      epoch = withCountedTokens(advanceEpoch(epoch, { request, sent, plan: planned, nowMs: clock.nowMs() }), inTokens)
      const sizes = mode === 'compact' ? coverSizes({ request, epoch }, policy, prices) : null
      if (sizes === null) return null
      const before = firstKeptEntry(request, sizes.keptTokens)
      const summary = summarizeExtractively({
        purpose: 'compaction',
        messages: coverSources(recorded.history.slice(0, before), (callId) => proxiedResultReference(THREAD, callId)),
        previousSummary: null,
        tokensMax: sizes.summaryTokens,
      })
      prepared = makeCover(request, body, { before, text: summary })
      return null
    },
  }
}
