import { beginSpan, type OpenSpan } from '@heddle/runtime'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * The spans of the requests under way: from the arrival of a request, before its admission, to the end of its answer. Health
 * checks, files and streams of events are not traced: streams last for days.
 */
export class RequestSpans {
  readonly #spans = new WeakMap<FastifyRequest, OpenSpan>()

  /** Continues the caller's trace, or begins one. */
  begin(request: FastifyRequest): void {
    const { routeOptions, method, headers, id } = request
    if (routeOptions.config.access?.isCounted !== true) return
    const { traceparent } = headers
    const span = beginSpan(`${method} ${routeOptions.url}`, {
      kind: 'server',
      parent: typeof traceparent === 'string' ? traceparent : null,
      // The pattern and never the path: paths contain names.
      attributes: { 'http.request.method': method, 'http.route': routeOptions.url, 'heddle.request_id': id },
    })
    if (span !== null) this.#spans.set(request, span)
  }

  /** Runs the work of a request as part of its span. */
  run<T>(request: FastifyRequest, work: () => T): T {
    const span = this.#spans.get(request)
    return span === undefined ? work() : span.run(work)
  }

  end(request: FastifyRequest, { statusCode }: Pick<FastifyReply, 'statusCode'>): void {
    const span = this.#spans.get(request)
    span?.set({
      'http.response.status_code': statusCode,
      // A caller's fault is not one of the server.
      ...(statusCode >= 500 && { 'error.type': String(statusCode) }),
    })
    span?.end()
  }
}
