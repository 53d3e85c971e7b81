import { connect, createServer, type Socket } from 'node:net'

/** A proxy between clients and a server, so that the server can be made unreachable without affecting others. */
export interface TcpProxy {
  /** The address of the server with the proxy's host and port. */
  readonly url: string
  /** Drops every connection; new ones are accepted as before. */
  cut(): void
  /**
   * Drops every connection, and accepts new ones without ever answering. Those stay silent permanently: a client of one
   * must close it itself.
   */
  silence(): void
  /** Forwards new connections again. */
  speak(): void
  /** Drops every connection and accepts no new ones. */
  stop(): Promise<void>
  start(): Promise<void>
}

export async function openTcpProxy(target: string): Promise<TcpProxy> {
  const url = new URL(target)
  const targetPort = Number(url.port || (url.protocol.startsWith('redis') ? 6379 : 5432))
  const targetHost = url.hostname
  const sockets = new Set<Socket>()
  let isSilent = false

  const hold = (socket: Socket, onClose: () => void) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      onClose()
    })
  }
  const server = createServer((incoming) => {
    if (isSilent) {
      // Read, so that its end is noticed.
      hold(incoming.resume(), () => {})
      return
    }
    const outgoing = connect(targetPort, targetHost)
    hold(incoming, () => outgoing.destroy())
    hold(outgoing, () => incoming.destroy())
    incoming.pipe(outgoing).pipe(incoming)
  })
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))

  await listen(0)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  url.hostname = '127.0.0.1'
  url.port = String(address.port)
  return {
    url: url.href,
    cut,
    silence() {
      isSilent = true
      cut()
    },
    speak() {
      isSilent = false
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        cut()
      }),
    start: () => listen(address.port),
  }
}
