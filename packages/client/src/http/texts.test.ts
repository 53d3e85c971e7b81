import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { createClient, remoteClientOf } from './client.js'

/** A server whose streams begin, and never end by themselves. */
async function startEndless() {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('retry: 2000\nid: 1\n\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let round = 0; round < 5; round++) {
    await setImmediate()
    collect()
  }
}

async function readAll(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}

test('a stream ends when it is aborted, also after garbage was collected, and its connection is closed', async () => {
  const { server, url } = await startEndless()
  const client = createClient({ url })
  const connected = once(server, 'connection')
  const ending = new AbortController()
  const reading = readAll(await client.events.follow({ signal: ending.signal }))
  const [socket] = await connected
  await collectGarbage()
  ending.abort()
  await reading
  if (!socket.destroyed) await once(socket, 'close')
}, 10_000)

test('a stream ends with its client, also after garbage was collected', async () => {
  const { url } = await startEndless()
  const closing = new AbortController()
  const client = remoteClientOf({ url }, closing.signal)
  const reading = readAll(await client.events.follow({ signal: new AbortController().signal }))
  await collectGarbage()
  closing.abort()
  await expect(reading).resolves.toBeUndefined()
}, 10_000)
