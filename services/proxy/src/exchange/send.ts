import type { Epoch, JsonObject, ProxyMode } from '@heddle/contracts'
import {
  advanceEpoch,
  marksOf,
  type ProviderRequest,
  planRequest,
  priceOf,
  pricesOf,
  proxiedResultReference,
  type RequestPlan,
  withCountedTokens,
  withFurtherCost,
} from '@heddle/core'
import type { ExchangeDeps } from './deps.js'
import type { RecalledFacts } from './recalled-facts.js'
import type { Understood } from './understand.js'

/** How a request of a conversation is sent. */
export interface Sending extends Understood {
  readonly plan: RequestPlan
  readonly mode: ProxyMode
  /** The request as it is sent, read. */
  readonly sent: ProviderRequest
  /** The state of the conversation before it. */
  readonly before: Epoch | null
  readonly sentAtMs: number
  /** Null if the request is sent as it came. */
  readonly rendered: Uint8Array | null
}

type PlanDeps = Pick<ExchangeDeps, 'policy' | 'clock'>

/** The plan of a request in a mode; it changes nothing. */
export function planOf(deps: PlanDeps, { conversation, request, body }: Understood, mode: ProxyMode): RequestPlan {
  const { epoch, threadId, prepared, known } = conversation
  return planRequest({
    request: withoutResultsOf(request, known.unstored),
    body,
    epoch,
    mode,
    policy: deps.policy,
    prices: pricesOf(request.protocol, request.model).prices,
    prepared,
    referenceOf: (callId) => proxiedResultReference(threadId, callId),
    nowMs: deps.clock.nowMs(),
  })
}

/** Results of entries that are not stored stay: a text in place of one would name nothing that can be recalled. */
function withoutResultsOf(request: ProviderRequest, unstored: ReadonlySet<number>): ProviderRequest {
  if (unstored.size === 0) return request
  const entries = request.entries.map((entry, index) => (unstored.has(index) ? { ...entry, results: [] } : entry))
  return { ...request, entries }
}

/** A request that is sent as it came. */
export function unchanged(deps: PlanDeps, understood: Understood): Sending {
  return {
    ...understood,
    plan: planOf(deps, understood, 'observe'),
    mode: 'observe',
    rendered: null,
    sent: understood.request,
    before: understood.conversation.epoch,
    sentAtMs: deps.clock.nowMs(),
  }
}

/** Notes that a request is being sent, so that the next one is compared with it. */
export function noteSent(
  { conversations, states }: Pick<ExchangeDeps, 'conversations' | 'states'>,
  { conversation, request, sent, plan, sentAtMs: nowMs }: Sending,
): void {
  const epoch = advanceEpoch(conversation.epoch, { request, sent, plan, nowMs })
  conversation.epoch = epoch
  conversation.marks = marksOf(epoch, request, sent)
  conversations.advance(conversation, request)
  states.save(conversation)
}

/** Tokens as the provider counted them. */
export interface Usage {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
}

/** Corrects the estimates of a conversation by the count of a provider for its last request. */
export function noteUsage(
  { states }: Pick<ExchangeDeps, 'states'>,
  { conversation, sentAtMs }: Sending,
  { input, cacheRead, cacheWrite }: Usage,
): void {
  // Another request of the conversation may have been sent meanwhile.
  if (conversation.epoch?.sentAtMs !== sentAtMs) return
  conversation.epoch = withCountedTokens(conversation.epoch, input + cacheRead + cacheWrite)
  states.save(conversation)
}

/**
 * Adds what recalls of a reply cost to the costs of its conversation, out of which rewrites are paid: without the proxy there
 * would have been none of these requests.
 */
export function noteRecalls({ states }: Pick<ExchangeDeps, 'states'>, sending: Sending, recalled: RecalledFacts): void {
  const { conversation, request, plan } = sending
  if (conversation.epoch === null || recalled.requests <= 1) return
  const { prices } = pricesOf(request.protocol, request.model)
  const further = furtherUsage(recalled) ?? {
    // Not counted by the provider: each further request reads at least what the first one wrote.
    ...{ input: 0, cacheRead: plan.tokens.sent * (recalled.requests - 1), cacheWrite: 0, output: 0 },
  }
  conversation.epoch = withFurtherCost(conversation.epoch, priceOf(prices, further) * 1_000_000)
  states.save(conversation)
}

/** Tokens of a reply that its recalls added; null if the provider did not count them. */
export function furtherUsage({ usage, asked }: Pick<RecalledFacts, 'usage' | 'asked'>): Usage | null {
  if (usage === null || asked === null) return null
  return {
    input: usage.input - asked.input,
    cacheRead: usage.cacheRead - asked.cacheRead,
    cacheWrite: usage.cacheWrite - asked.cacheWrite,
    output: usage.output - asked.output,
  }
}

/** The usage in a whole reply; null without one, as in most streams of chat completions. */
export function usageOf(protocol: ProviderRequest['protocol'], { usage }: JsonObject): Usage | null {
  if (usage === null || typeof usage !== 'object' || Array.isArray(usage)) return null
  const count = (value: unknown): number => (typeof value === 'number' && value >= 0 ? value : 0)
  if (protocol === 'anthropic') {
    return {
      input: count(usage['input_tokens']),
      cacheRead: count(usage['cache_read_input_tokens']),
      cacheWrite: count(usage['cache_creation_input_tokens']),
      output: count(usage['output_tokens']),
    }
  }
  const details = usage['prompt_tokens_details'] ?? usage['input_tokens_details']
  const cacheRead = isRecord(details) ? count(details['cached_tokens']) : 0
  const input = count(usage['prompt_tokens'] ?? usage['input_tokens'])
  const output = count(usage['completion_tokens'] ?? usage['output_tokens'])
  return { input: Math.max(0, input - cacheRead), cacheRead, cacheWrite: 0, output }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object'
}
