import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'

/** A Postgres in this process, with the extension pgvector, which the servers of the other tests do not have. */
export interface PgliteServer {
  /** For one connection at a time, because it is a single session. */
  readonly url: string
  close(): Promise<void>
}

/**
 * Starts one in memory, behind a socket that speaks Postgres' protocol. A second client waits for the first to disconnect,
 * since the statements of two would be mixed.
 */
export async function startPglite(): Promise<PgliteServer> {
  const database = await PGlite.create({ extensions: { vector } })
  const sockets = new Set<Socket>()
  let turn = Promise.resolve()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.pause()
    socket.on('error', () => {})
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
    turn = turn.then(async () => {
      serve(socket, database)
      await closed
      sockets.delete(socket)
      await database.exec('rollback')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      await turn
      await database.close()
    },
  }
}

/** Forwards whole messages, one after another. */
function serve(socket: Socket, database: PGlite): void {
  let waiting = Buffer.alloc(0)
  let isStarted = false
  let handing = Promise.resolve()
  socket.on('data', (data) => {
    waiting = Buffer.concat([waiting, data])
    for (;;) {
      // The first message has no type byte before its length.
      const lengthAt = isStarted ? 1 : 0
      if (waiting.length < lengthAt + 4) return
      const end = lengthAt + waiting.readUInt32BE(lengthAt)
      if (waiting.length < end) return
      const message = waiting.subarray(0, end)
      waiting = waiting.subarray(end)
      isStarted = true
      if (message[0] === TERMINATE) return void socket.end()
      handing = handing.then(async () => {
        const answer = await database.execProtocolRaw(message)
        if (!socket.destroyed) socket.write(answer)
      })
    }
  })
  socket.resume()
}

const TERMINATE = 'X'.charCodeAt(0)
