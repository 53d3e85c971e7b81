import { LINES_MEDIA_TYPE } from '@heddle/contracts'
import { errorCodes, type FastifyInstance } from 'fastify'
import { Refused } from './problems.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The media type that the route accepts instead of JSON; the body is then a string. */
    bodyMediaType?: string | undefined
  }
}

/**
 * Accepts JSON in UTF-8, and JSON lines on routes that declare them. Fastify's own parser would substitute a replacement
 * character for invalid UTF-8, and refuse fields such as `__proto__`, which tool arguments may contain; the schemas copy
 * such fields safely.
 */
export function takeJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      checkEncoding(request.headers)
      done(null, body.length === 0 ? undefined : readJson(body as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
  app.addContentTypeParser(LINES_MEDIA_TYPE, { parseAs: 'buffer' }, (request, body, done) => {
    try {
      if (request.routeOptions.config.bodyMediaType !== LINES_MEDIA_TYPE) {
        throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE()
      }
      checkEncoding(request.headers)
      done(null, readText(body as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
}

function checkEncoding(headers: Record<string, string | string[] | undefined>): void {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') throw wrongEncoding('content-encoding', 'must be identity', encoding)
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(String(headers['content-type']))?.[1] ?? 'utf-8'
  if (!/^utf-?8$/i.test(charset)) throw wrongEncoding('content-type', 'its charset must be utf-8', charset)
}

function wrongEncoding(field: string, rule: string, received: string | string[]): Refused {
  const data = { code: 'VALIDATION_ERROR' as const, detail: `${field}: ${rule}`, field }
  return new Refused({ ...data, received: JSON.stringify(String(received).slice(0, 80)) }, { status: 415 })
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body))
  } catch {
    // The parser's own message quotes part of the body.
    throw unreadable('JSON', body)
  }
}

function readText(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch {
    throw unreadable('a text', body)
  }
}

function unreadable(what: string, { length }: Buffer): Refused {
  const data = { code: 'VALIDATION_ERROR' as const, detail: `body: must be ${what} in UTF-8`, field: 'body' }
  return new Refused({ ...data, received: `${length} bytes` })
}
