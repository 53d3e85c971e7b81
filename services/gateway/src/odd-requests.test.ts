import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Client } from '@heddle/client/interface'
import { createLogger } from '@heddle/runtime'
import { expect, test } from 'vitest'
import { startGateway } from './gateway.js'

const HOST = 'host: 127.0.0.1\r\n'
const GOOD = `GET /v1/agents HTTP/1.1\r\n${HOST}\r\n`
const CLOSING = `GET /v1/agents HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`

const nothing = async () => ({ items: [], nextCursor: null })

/** A gateway with limits of two requests and a hundred megabytes of bodies for a project. @param list answers the valid requests */
async function withGateway(work: (port: number) => Promise<void>, list = nothing): Promise<void> {
  const gateway = await startGateway({
    port: 0,
    project: 'tests',
    identity: {},
    log: createLogger({ level: 'silent', name: 'test' }),
    projectLimits: { requestsMax: 2, bytesMax: 100_000_000 },
    backend: () => ({
      clientOf: () => ({ agents: { list } }) as unknown as Client,
      keys: { read: async () => null, hasAny: async () => false },
      checkShare: () => {},
      readStageStats: async () => [],
      examine: async () => [],
      readModelCalls: () => new Map(),
      checkReady: async () => undefined,
    }),
  })
  try {
    await work(gateway.port)
  } finally {
    await gateway.close()
  }
}

/** All bytes received until the server closes the connection. */
async function exchange(port: number, sent: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.setEncoding('utf8').on('data', (part: string) => {
    received += part
  })
  socket.write(sent)
  await once(socket, 'close')
  return received
}

test('requests that Node would refuse with a bare status or not at all are refused with a problem document', async () => {
  await withGateway(async (port) => {
    const cases: [string, number, string][] = [
      ['GET /v1/agents/coder HTTP/1.1\r\nconnection: close\r\n\r\n', 403, 'FORBIDDEN'],
      [`POST /v1/recall HTTP/1.1\r\n${HOST}expect: a-lot\r\ncontent-length: 2\r\n\r\n{}`, 417, 'VALIDATION_ERROR'],
      [`CONNECT 127.0.0.1:80 HTTP/1.1\r\n${HOST}\r\n`, 405, 'VALIDATION_ERROR'],
      ['nonsense\r\n\r\n', 400, 'VALIDATION_ERROR'],
    ]
    for (const [sent, status, code] of cases) {
      const [head = '', body = ''] = (await exchange(port, sent)).split('\r\n\r\n')
      expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      expect(head).toContain('application/problem+json')
      expect(JSON.parse(body)).toMatchObject({ status, code })
    }
  })
})

test('a client that sends CONNECT and stays does not keep the gateway from closing', async () => {
  let socket: Socket | undefined
  await withGateway(async (port) => {
    socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).resume()
    socket.write(`CONNECT 127.0.0.1:80 HTTP/1.1\r\n${HOST}\r\n`)
    await once(socket, 'end')
  })
  socket?.destroy()
})

test('unanswered requests of a closed connection release their capacity', async () => {
  await withGateway(async (port) => {
    // A malformed request closes the connection before earlier ones are answered.
    await exchange(port, `${GOOD}${GOOD}nonsense\r\n\r\n`)
    const statuses = async () => (await exchange(port, `${GOOD}${CLOSING}`)).match(/HTTP\/1\.1 \d+/g)
    await expect.poll(statuses).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
  })
})

test('a body declared larger than its route accepts does not block other requests', async () => {
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const list = async () => {
    await answered
    return await nothing()
  }
  await withGateway(async (port) => {
    const underWay = exchange(port, CLOSING)
    const huge = `PUT /v1/agents/coder HTTP/1.1\r\n${HOST}content-type: application/json\r\ncontent-length: 99999999999\r\n\r\n{`
    const refused = await exchange(port, huge)
    answer()
    expect(refused).toMatch(/^HTTP\/1\.1 413 /)
    expect(await underWay).toMatch(/^HTTP\/1\.1 200 /)
  }, list)
})
