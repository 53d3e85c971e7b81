import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { Refused } from '../http/problems.js'

/** Everything comes from this server, and nothing that a message contains can run, load or be submitted. */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const headers = {
  'content-security-policy': CONTENT_POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Serves the files of the inspector under `/ui`. Its routes are behind `#`, so every address of it is one of a file. */
export async function serveSite(server: FastifyInstance, folder: URL): Promise<void> {
  const page = await readFile(new URL('index.html', folder), 'utf8').catch(() => null)
  // Relative, because a proxy may serve this below another path.
  server.get('/ui', async (_request, reply) => reply.redirect('ui/'))
  server.get('/ui/', async (_request, reply) => {
    if (page === null) throw notBuilt()
    return reply
      .headers({ ...headers, 'cache-control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .send(page)
  })
  if (page === null) return
  await server.register(fastifyStatic, {
    root: fileURLToPath(new URL('assets/', folder)),
    prefix: '/ui/assets/',
    decorateReply: false,
    index: false,
    cacheControl: false,
    setHeaders: (reply) => {
      reply.headers(headers)
      // The names of these files contain their hashes.
      reply.header('cache-control', 'public, max-age=31536000, immutable')
    },
  })
}

function notBuilt(): Refused {
  return new Refused({
    code: 'NOT_FOUND',
    detail: 'the files of the inspector are missing',
    field: 'path',
    hint: 'In a checkout of the repository, run: npm run build',
  })
}
