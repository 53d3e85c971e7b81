import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Has every answer end. Requests may come over one connection without waiting for answers, which are then written in turn;
 * where the connection closes before an answer's turn came, Node lets go of it without a word. Whoever gives room back when
 * an answer closes would wait for ever, so those that are left behind are closed here.
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
    // Those whose turn it was are closed by Node.
    setImmediate(() => {
      for (const response of open) response.emit('close')
    })
  })
  return open
}
