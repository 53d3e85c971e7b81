import { once } from 'node:events'
import { connect } from 'node:net'
import type { Client } from '@heddle/client'
import { createLogger } from '@heddle/runtime'
import { expect, test } from 'vitest'
import { startGateway } from './gateway.js'

const HOST = 'host: 127.0.0.1\r\n'
const GOOD = `GET /v1/agents HTTP/1.1\r\n${HOST}\r\n`

async function withGateway(work: (port: number) => Promise<void>): Promise<void> {
  const list = async () => ({ items: [], nextCursor: null })
  const gateway = await startGateway({
    port: 0,
    project: 'tests',
    identity: {},
    log: createLogger({ level: 'silent', name: 'test' }),
    // One request has all the room that there is.
    projectLimits: { requestsMax: 1, bytesMax: 1_000 },
    backend: () => ({
      clientOf: () => ({ agents: { list } }) as unknown as Client,
      keys: { read: async () => null, hasAny: async () => false },
      checkShare: () => {},
      readStageStats: async () => [],
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

/** All that comes until the server closes the connection. */
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

test('what Node would refuse with a bare status, or leave without a word, is refused with a problem document', async () => {
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

test('requests that came over one connection and were never answered give their room back', async () => {
  await withGateway(async (port) => {
    // The connection closes with the first answer; what stands behind it is begun, and its answer has nowhere to go.
    const closing = GOOD.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n')
    for (const left of [`${closing}${GOOD}`, `${GOOD}${GOOD}nonsense\r\n\r\n`]) {
      await exchange(port, left)
      expect(await exchange(port, closing)).toMatch(/^HTTP\/1\.1 200 /)
    }
  })
})

test('a body that says it is larger than its route takes keeps nobody else out', async () => {
  await withGateway(async (port) => {
    const huge = `PUT /v1/agents/coder HTTP/1.1\r\n${HOST}content-type: application/json\r\ncontent-length: 99999999999\r\n\r\n{`
    expect(await exchange(port, huge)).toMatch(/^HTTP\/1\.1 413 /)
  })
})
