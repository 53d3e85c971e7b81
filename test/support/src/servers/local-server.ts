import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LocalServer {
  /** `http://127.0.0.1:1234` */
  readonly url: string
  /** Ends every connection. */
  close(): Promise<void>
}

/** Serves HTTP on a free port of this machine. */
export async function startLocalServer(handle: RequestListener): Promise<LocalServer> {
  const server = createServer(handle)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
