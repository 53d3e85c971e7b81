import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Makes every response emit `close`. Pipelined requests share a connection, and their responses are written in order.
 * If the connection closes first, Node drops the queued responses without an event, and code that releases capacity on
 * `close` would never run; so this closes them.
 */
export function closeOrphanedResponses(server: Server): void {
  const ofSocket = new WeakMap<Socket, Set<ServerResponse>>()
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const open = ofSocket.get(socket) ?? watch(socket)
    ofSocket.set(socket, open)
    open.add(response)
    response.once('close', () => open.delete(response))
  })
}

function watch(socket: Socket): Set<ServerResponse> {
  const open = new Set<ServerResponse>()
  socket.once('close', () => {
    // Node closes the response that was being written.
    setImmediate(() => {
      for (const response of open) response.emit('close')
    })
  })
  return open
}
