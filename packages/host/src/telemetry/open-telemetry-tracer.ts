import { AsyncLocalStorage } from 'node:async_hooks'
import { HeddleError } from '@heddle/contracts'
import type { OpenSpan, SpanAttributes, SpanStart, Tracer } from '@heddle/runtime'
import {
  type Context,
  type Tracer as OpenTelemetryTracer,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
}

export interface TracerOptions {
  /** Makes the spans; it records all that are begun. */
  readonly spans: OpenTelemetryTracer
  /** Of the traces that begin here, from 0 to 1: those that are recorded. */
  readonly share: number
}

/**
 * Heddle's tracer over one of OpenTelemetry. The span under way is kept here and not in OpenTelemetry's global context, so that
 * a program that uses Heddle as a library keeps its own.
 *
 * A trace has the decision of its parent. One that begins here is recorded by its share, or if a recorded span of another trace
 * caused it: the work that a thread is woken for again would otherwise be lost from sight. The decision is made before
 * anything else, and only recorded spans are entered: the others cost next to nothing.
 */
export function createTracer({ spans, share }: TracerOptions): Tracer {
  const underWay = new AsyncLocalStorage<Context>()

  /** Null if the span is not to be recorded. */
  const parentOf = ({ parent, links = [] }: SpanStart): Context | null => {
    if (parent === undefined) return underWay.getStore() ?? null
    const context = parent === null ? null : parseTraceParent(parent)
    if (context !== null)
      return isSampled(context) ? trace.setSpanContext(ROOT_CONTEXT, { ...context, isRemote: true }) : null
    const isRecorded = Math.random() < share || links.some((link) => isSampled(parseTraceParent(link)))
    return isRecorded ? ROOT_CONTEXT : null
  }

  return {
    begin(name, start): OpenSpan | null {
      const parent = parentOf(start)
      if (parent === null) return null
      const { kind = 'internal', attributes = {}, links = [], startedAtMs } = start
      const linked = links.flatMap((link) => {
        const context = parseTraceParent(link)
        return context === null ? [] : [{ context }]
      })
      const options = { kind: kinds[kind], attributes: present(attributes), links: linked, startTime: startedAtMs }
      const span = spans.startSpan(name, options, parent)
      const context = trace.setSpan(parent, span)
      return {
        set: (more) => span.setAttributes(present(more)),
        fail: (error) => fail(span, error),
        run: (work) => underWay.run(context, work),
        end: () => span.end(),
      }
    },
    current() {
      const context = underWay.getStore()
      return context === undefined ? undefined : traceParentOf(trace.getSpan(context))
    },
  }
}

function isSampled(context: SpanContext | null): boolean {
  return context !== null && (context.traceFlags & TraceFlags.SAMPLED) !== 0
}

function traceParentOf(span: Span | undefined): string | undefined {
  if (span === undefined) return undefined
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** Messages of errors may quote users' texts, so only what kind of error it was leaves the process. */
function fail(span: Span, error: unknown): void {
  const type = error instanceof HeddleError ? error.code : error instanceof Error ? error.name : 'unknown'
  span.setAttributes({ 'error.type': type })
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function present(attributes: SpanAttributes): Record<string, string | number | boolean | string[]> {
  const entries = Object.entries(attributes).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Record<string, string | number | boolean | string[]>
}
