import type { ProxyMode } from '@heddle/contracts'
import { checkRendered, type RequestPlan, renderPlan, withoutNewStubs } from '@heddle/core'
import type { ExchangeDeps } from './deps.js'
import { planOf, type Sending } from './send.js'
import type { Understood } from './understand.js'

/** A request in the form in which it is sent, or the reason for which it has to be sent as it came. */
export type Prepared = { readonly sending: Sending } | { readonly passed: string }

/**
 * Decides what is sent in place of a request. A result is replaced for the first time only once it is stored, as that of an
 * earlier request is in most cases; if storing takes too long, no further one is replaced: the request begins with what was
 * sent before, and what it adds is sent itself.
 */
export async function prepare(deps: ExchangeDeps, found: Understood, mode: ProxyMode): Promise<Prepared> {
  const { conversation } = found
  const { epoch } = conversation
  const planned = planOf(deps, found, mode)
  const known = conversation.known.sharedWith(found.request)
  const areKnown = planned.newStubs.every(({ entry }) => entry < known)
  const isStored = areKnown || (await deps.recorder.storeNow(found, deps.lateMs))
  // Another request of the conversation was sent meanwhile: the plan does not begin with it.
  if (conversation.epoch !== epoch) return { passed: 'concurrent' }
  if (!isStored) deps.metrics.passed('not-stored')
  if (isStored) return render(deps, found, mode, planned)
  return render(deps, found, mode, planOf({ ...deps, policy: withoutNewStubs(deps.policy) }, found, mode))
}

function render(deps: ExchangeDeps, found: Understood, mode: ProxyMode, plan: RequestPlan): Prepared {
  const { conversation, request, body } = found
  const rendered = renderPlan(request, body, plan)
  const planned = { ...found, plan, mode, before: conversation.epoch, sentAtMs: deps.clock.nowMs() }
  if (rendered === body) return { sending: { ...planned, rendered: null, sent: request } }
  const sent = deps.reader.read(request.protocol, rendered)
  const faults = checkRendered(request, sent, { epoch: conversation.epoch, plan })
  if (sent === null || faults.length > 0) return { passed: `check-${faults[0] ?? 'unreadable'}` }
  return { sending: { ...planned, rendered, sent } }
}
