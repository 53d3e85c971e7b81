import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An address in front of a gateway that can be made to refuse or drop connections, or to hold requests back. */
export async function startRelay(target: () => string) {
  let held: Promise<void> | null = null
  let dropped: number | null = null
  const relay = async (incoming: IncomingMessage, response: ServerResponse) => {
    await held
    const pieces: Buffer[] = []
    for await (const piece of incoming) pieces.push(piece as Buffer)
    const { method = 'GET', url = '/', headers } = incoming
    const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...sent } = headers
    const body = method === 'GET' ? {} : { body: Buffer.concat(pieces) }
    const answer = await fetch(`${target()}${url}`, { method, headers: sent as Record<string, string>, ...body })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
    response.end(Buffer.from(await answer.arrayBuffer()))
  }
  const server = createServer((incoming, response) => {
    // The caller has left, or the gateway is away: its request ends without an answer.
    relay(incoming, response).catch(() => response.destroy())
  })
  server.on('connection', (socket) => {
    if (dropped === null) return
    dropped += 1
    socket.destroy()
  })
  let port = 0
  const start = async () => {
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  }
  await start()
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  /** @returns lets the requests go on */
  const hold = () => {
    let release = () => {}
    held = new Promise<void>((resolve) => {
      release = resolve
    })
    return () => {
      held = null
      release()
    }
  }
  return {
    url: `http://127.0.0.1:${port}`,
    start,
    stop,
    hold,
    /** The connections that were tried while they are dropped; null while they are served. */
    get dropped() {
      return dropped
    },
    /** Ends all connections, and each other one as it comes. */
    drop() {
      dropped = 0
      server.closeAllConnections()
    },
    serve() {
      dropped = null
    },
  }
}
