/*
 * Traces, as the code that is traced sees them: no dependency, no exporter, and nothing at all until a tracer is installed. The
 * host installs one over OpenTelemetry if the configuration asks for it.
 *
 * The tracer is a variable of the process, unlike every other dependency: a span belongs to whatever caused the work, across
 * packages that know nothing of each other, and passing it through each signature would change all of them for a feature that
 * is off by default.
 */

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer'

/** Undefined values are left out. Never texts of users: a trace goes to other readers than a conversation. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export interface SpanStart {
  /** Default `internal`. */
  readonly kind?: SpanKind
  readonly attributes?: SpanAttributes
  /**
   * The W3C `traceparent` of the span that caused this one; null begins a trace, if it is sampled. Default: the span under way,
   * and without one nothing is recorded.
   */
  readonly parent?: string | null
  /** `traceparent` of other causes. A trace that begins with a sampled link is sampled. */
  readonly links?: readonly string[]
  /** In milliseconds since 1970. Default now. */
  readonly startedAtMs?: number
}

export interface Span {
  set(attributes: SpanAttributes): void
  /** Marks the span as failed. Of the error only its code or name is recorded. */
  fail(error: unknown): void
}

/** A span that its owner ends, because no single function runs as long. */
export interface OpenSpan extends Span {
  /** Runs work whose spans are children of this one. */
  run<T>(work: () => T): T
  end(): void
}

export interface Tracer {
  /** @returns null if it is not sampled */
  begin(name: string, start: SpanStart): OpenSpan | null
  /** The `traceparent` of the span under way, if one is recorded. */
  current(): string | undefined
}

let installed: Tracer | null = null

/** @returns removes it */
export function installTracer(tracer: Tracer): () => void {
  const before = installed
  installed = tracer
  return () => {
    if (installed === tracer) installed = before
  }
}

/** The `traceparent` that the cause of another process's work is sent as; undefined unless a sampled span is under way. */
export function currentTrace(): string | undefined {
  return installed?.current()
}

/** Begins a span that {@link OpenSpan.end} ends; null without a tracer, and if it is not sampled. */
export function beginSpan(name: string, start: SpanStart): OpenSpan | null {
  return installed === null ? null : installed.begin(name, start)
}

/** Runs work as a span. Without a tracer, and if it is not sampled, it is only a call of the work. */
export function traced<T>(name: string, start: SpanStart, work: (span: Span) => Promise<T>): Promise<T> {
  const span = installed === null ? null : installed.begin(name, start)
  return span === null ? work(noSpan) : runAs(span, work)
}

async function runAs<T>(span: OpenSpan, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await span.run(() => work(span))
  } catch (error) {
    span.fail(error)
    throw error
  } finally {
    span.end()
  }
}

const noSpan: Span = { set() {}, fail() {} }
