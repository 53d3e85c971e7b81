import { createServer } from 'node:net'

const LOOPBACK = '127.0.0.1'

/** Whether a port of the loopback address is free now. */
export async function isPortFree(port: number): Promise<boolean> {
  try {
    await listenOnce(port)
    return true
  } catch {
    return false
  }
}

/** A free port. Another process may use it first, so the caller must retry then. */
export function freePort(): Promise<number> {
  return listenOnce(0)
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port))
    })
  })
}
