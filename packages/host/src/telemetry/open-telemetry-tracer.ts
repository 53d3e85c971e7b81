import { AsyncLocalStorage } from 'node:async_hooks'
import { HeddleError } from '@heddle/contracts'
import type { OpenSpan, SpanAttributes, SpanStart, Tracer } from '@heddle/runtime'
import {
  type Context,
  type Tracer as OpenTelemetryTracer,
  type Span,
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

/**
 * Heddle's tracer over one of OpenTelemetry. The span under way is kept here and not in OpenTelemetry's global context, so that
 * a program that uses Heddle as a library keeps its own.
 *
 * Only sampled spans are entered: whatever belongs to an unsampled trace costs nothing after the decision at its beginning.
 */
export function createTracer(spans: OpenTelemetryTracer, root: Context): Tracer {
  const underWay = new AsyncLocalStorage<Context>()

  const parentOf = ({ parent }: SpanStart): Context | null => {
    if (parent === undefined) return underWay.getStore() ?? null
    const context = parent === null ? null : parseTraceParent(parent)
    return context === null ? root : trace.setSpanContext(root, { ...context, isRemote: true })
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
      if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return null
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
