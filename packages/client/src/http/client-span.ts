/**
 * The used part of the module `@opentelemetry/api`, which a program passes if it traces its own work. The client has no
 * dependency on it.
 */
export interface OpenTelemetryApi {
  readonly trace: {
    getTracer(name: string): { startSpan(name: string, options: object, context: never): ClientSpan }
    setSpan(context: never, span: never): unknown
  }
  readonly context: { active(): unknown }
  readonly propagation: { inject(context: never, carrier: Record<string, string>): void }
}

interface ClientSpan {
  setAttribute(name: string, value: string | number): unknown
  setStatus(status: { code: number }): unknown
  end(): void
}

interface TracedRequest {
  readonly method: string
  /** The path with the names of its parameters: values may be names of users. */
  readonly route: string
}

const SPAN_KIND_CLIENT = 2
const STATUS_ERROR = 2

/**
 * Runs a call, with all of its attempts, as a span of the caller's trace.
 *
 * @param send gets the headers in which the trace continues at the gateway
 */
export async function withClientSpan<T>(
  api: OpenTelemetryApi | undefined,
  { method, route }: TracedRequest,
  send: (headers: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  if (api === undefined) return await send({})
  const attributes = { 'http.request.method': method, 'url.template': route }
  const around = api.context.active() as never
  const span = api.trace
    .getTracer('heddle')
    .startSpan(`${method} ${route}`, { kind: SPAN_KIND_CLIENT, attributes }, around)
  const headers: Record<string, string> = {}
  api.propagation.inject(api.trace.setSpan(around, span as never) as never, headers)
  try {
    return await send(headers)
  } catch (error) {
    const { code } = (error ?? {}) as { readonly code?: unknown }
    span.setAttribute('error.type', typeof code === 'string' ? code : 'unknown')
    span.setStatus({ code: STATUS_ERROR })
    throw error
  } finally {
    span.end()
  }
}
