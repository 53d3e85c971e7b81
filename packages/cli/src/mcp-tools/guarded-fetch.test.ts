import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { guardedFetch } from './guarded-fetch.js'

/** A server on this machine, and what asks it under a name that has the given addresses. */
async function askUnder(addresses: readonly string[], { allowPrivate = false, bytes = 2 } = {}) {
  let asked = 0
  const server = createServer((_, answer) => {
    asked++
    answer.end('x'.repeat(bytes))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const refused: unknown[] = []
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  const fetch = guardedFetch({
    allowPrivate,
    onRefused: (error) => refused.push(error),
    resolve: async () => found,
  })
  const { port } = server.address() as AddressInfo
  const ask = (host = 'tools.example') => fetch(`http://${host}:${port}/mcp`)
  return { ask, refused, asked: () => asked }
}

test('a name that resolves to this machine is refused before anything is sent', async () => {
  const { ask, asked } = await askUnder(['127.0.0.1'])
  await expect(ask()).rejects.toMatchObject({ code: 'FORBIDDEN', field: 'url', received: 'tools.example' })
  expect(asked()).toBe(0)
})

test('a private address among public ones is refused as well', async () => {
  const { ask } = await askUnder(['1.1.1.1', '::ffff:127.0.0.1'])
  await expect(ask()).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

test.for(['127.0.0.1', '[::1]', '2130706433', '0x7f.1'])(
  'the address %s is refused, however it is spelled',
  async (host) => {
    const { ask, asked } = await askUnder([])
    await expect(ask(host)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(asked()).toBe(0)
  },
)

test('with allowPrivate it is reached', async () => {
  const { ask } = await askUnder(['127.0.0.1'], { allowPrivate: true })
  expect(await (await ask()).text()).toBe('xx')
})

test('an answer above the size limit is cut with an error', async () => {
  const { ask, refused } = await askUnder(['127.0.0.1'], { allowPrivate: true, bytes: 11_000_000 })
  await expect((await ask()).text()).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  expect(refused).toMatchObject([{ code: 'PAYLOAD_TOO_LARGE' }])
})
