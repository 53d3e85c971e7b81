import type { FastifyRequest } from 'fastify'
import { Refused } from './problems.js'

/** Paths that the server answers besides the routes of its contract. */
const own = [
  ...['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs', '/ui', '/v1/session'].map((path) => ({
    method: 'GET',
    path,
  })),
  { method: 'POST', path: '/mcp' },
  { method: 'POST', path: '/v1/session' },
  { method: 'DELETE', path: '/v1/session' },
]

/** If the path is known, the method is wrong: then the answer lists the allowed methods. */
export function createNoSuchRoute(
  contracts: readonly { method: string; path: string }[],
): (request: FastifyRequest) => Refused {
  const known = [...contracts, ...own].map(({ method, path }) => ({ method, pattern: patternOf(path) }))
  return ({ url, method: received }) => {
    const path = url.split('?', 1).join('')
    const fitting = known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
    if (fitting.length === 0) {
      return new Refused({
        code: 'NOT_FOUND',
        detail: 'there is no such route',
        field: 'path',
        hint: 'See /docs for all routes.',
      })
    }
    const allow = [...new Set(fitting)].sort().join(', ')
    return new Refused(
      { code: 'VALIDATION_ERROR', detail: `method: must be one of ${allow}`, field: 'method', received },
      { status: 405, headers: { allow } },
    )
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}/?$`)
}
