import { type Attributes, type Context, type Link, type SpanKind, TraceFlags, trace } from '@opentelemetry/api'
import {
  type Sampler,
  SamplingDecision,
  type SamplingResult,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'

const isSampled = ({ traceFlags }: { readonly traceFlags: number }) => (traceFlags & TraceFlags.SAMPLED) !== 0

/**
 * Continues the decision of the parent. A trace that begins here is recorded by its share, or if a recorded span of another
 * trace caused it: the work that a thread is woken for again would otherwise be lost from sight.
 */
export class LinkedSampler implements Sampler {
  readonly #share: number
  readonly #ofShare: Sampler

  constructor(share: number) {
    this.#share = share
    this.#ofShare = new TraceIdRatioBasedSampler(share)
  }

  shouldSample(
    context: Context,
    traceId: string,
    _name: string,
    _kind: SpanKind,
    _attributes: Attributes,
    links: Link[],
  ): SamplingResult {
    const parent = trace.getSpanContext(context)
    if (parent !== undefined) return decided(isSampled(parent))
    if (links.some((link) => isSampled(link.context))) return decided(true)
    return this.#ofShare.shouldSample(context, traceId, _name, _kind, _attributes, links)
  }

  toString(): string {
    return `LinkedSampler{${this.#share}}`
  }
}

function decided(isRecorded: boolean): SamplingResult {
  return { decision: isRecorded ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD }
}
