import { once } from 'node:events'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { upstreamsOf } from '../routes/upstreams.js'
import { Connections } from './connections.js'
import { relay } from './relay.js'
import { bodyOf } from './request-body.js'

test('the head of a reply and what came with it are one write to the caller', async () => {
  const provider = createServer((_request, response) => response.end('{"id": 1}')).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  const connections = new Connections()
  const writes: string[] = []
  const caller = new Duplex({
    read() {},
    writev(chunks, done) {
      writes.push(chunks.map(({ chunk }) => String(chunk)).join(''))
      done()
    },
  })
  const response = new ServerResponse(Object.assign(new IncomingMessage(new Socket()), { method: 'POST' }))
  response.assignSocket(caller as Socket)
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const [upstream] = upstreamsOf({ local: { url, protocol: 'openai' } }).values()
  if (upstream === undefined) throw new Error('there is no upstream')
  relay(connections, response, {
    target: { upstream, path: '/models', protocol: null, isCompaction: false },
    method: 'POST',
    headers: ['Host', upstream.host],
    body: bodyOf(Buffer.from('{}')),
  })
  await once(response, 'finish')
  expect(writes.filter((text) => text.startsWith('HTTP/1.1 200') && text.endsWith('{"id": 1}'))).toHaveLength(1)
  connections.close()
  provider.close()
})
