import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { errorData } from '@heddle/contracts'
import { portError } from '@heddle/runtime'

export interface HealthServer {
  readonly port: number
  close(): Promise<void>
}

export interface HealthOptions {
  /** The address to listen on. Default loopback, for this machine alone. */
  readonly host?: string
  /** 0 for any free port. */
  readonly port: number
  /** Fields of `/healthz` by which another command recognizes this process. */
  readonly identity: Readonly<Record<string, unknown>>
  /** Throws while the process cannot serve, with the reason. */
  readonly checkReady: () => Promise<void>
  /** Metrics of the process in Prometheus's text format. */
  readonly readMetrics: () => Promise<{ type: string; text: string }>
}

const LOOPBACK = '127.0.0.1'

/**
 * `/healthz` (the process runs) and `/readyz` (its servers answer) as JSON and `/metrics` for Prometheus, without a key: on
 * loopback, or on an address that only a private network reaches.
 *
 * @throws PermanentError `CONFLICT` if the port is in use, `FORBIDDEN` without permission to open it
 */
export async function startHealthServer(options: HealthOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    void answer(request.method ?? '', request.headers.host ?? '', request.url ?? '', response, options)
  })
  await listen(server, options.host ?? LOOPBACK, options.port)
  const { port } = server.address() as AddressInfo
  return {
    port,
    close() {
      return new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}

async function answer(
  method: string,
  host: string,
  url: string,
  response: ServerResponse,
  options: HealthOptions,
): Promise<void> {
  const send = (status: number, body: object) => {
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    response.end(`${JSON.stringify(body)}\n`)
  }
  // A web page can resolve its own host name to this address (DNS rebinding), but cannot choose the Host header.
  const isLocal = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host)
  const isOpenToOthers = (options.host ?? LOOPBACK) !== LOOPBACK
  if (!isLocal && !(isOpenToOthers && isAddress(host))) {
    const answered = isOpenToOthers ? 'an address of this machine' : 'the loopback address'
    return send(403, { code: 'FORBIDDEN', detail: `only requests to ${answered} are answered` })
  }
  if (method !== 'GET' && method !== 'HEAD')
    return send(405, { code: 'VALIDATION_ERROR', detail: 'only GET is answered' })
  if (url === '/healthz') return send(200, { status: 'ok', ...(isLocal && options.identity) })
  if (url === '/metrics') {
    const { type, text } = await options.readMetrics()
    response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' })
    response.end(text)
    return
  }
  if (url !== '/readyz') {
    return send(404, { code: 'NOT_FOUND', detail: 'only /healthz, /readyz and /metrics are served' })
  }
  try {
    await options.checkReady()
    send(200, { status: 'ready' })
  } catch (error) {
    send(503, { status: 'unavailable', ...errorData(error) })
  }
}

/** Whether a Host header is an IP address, which no foreign page can be loaded from. */
function isAddress(host: string): boolean {
  return isIP(host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')) !== 0
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(portError(host, port, error)))
    server.listen(port, host, () => resolve())
  })
}
