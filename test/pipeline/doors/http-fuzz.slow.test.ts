import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { redisUrl } from '@heddle/test-support'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Random } from '../../fuzz/random.js'
import { openPipeline, type Pipeline } from '../support.js'
import { type MalformedRequest, malformedRequest } from './http-malformed.js'
import { type Asked, type Served, serve, validator } from './http-support.js'

const SEED = 4_680
const COUNT = 1_000
const AT_ONCE = 8

let pipeline: Pipeline
let http: Served
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })

beforeAll(async () => {
  pipeline = await openPipeline(redisUrl() === null ? 'postgres' : 'redis')
  await pipeline.start()
  http = await serve(pipeline)
})
afterAll(async () => {
  agent.destroy()
  await http?.gateway.close()
  await pipeline?.close()
})

test('every request, whatever its form, is answered or refused with a typed error, and never with a server error', async () => {
  const validate = validator(http.document)
  const faults: string[] = []
  const statuses = new Map<number, number>()
  let next = 0
  const askOn = async () => {
    for (let index = next++; index < COUNT; index = next++) {
      const wanted = malformedRequest(http.document, new Random(SEED, index))
      try {
        const asked = await ask(wanted)
        statuses.set(asked.status, (statuses.get(asked.status) ?? 0) + 1)
        if (asked.status >= 500) throw new Error(JSON.stringify(asked.body))
        if (wanted.method !== 'HEAD' && asked.status >= 400) validate(wanted.method, wanted.path, asked)
      } catch (error) {
        const sent = JSON.stringify(wanted).slice(0, 600)
        faults.push(`${index}: ${sent}: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, askOn))
  expect(faults).toEqual([])
  // The requests are useful only if many different results are frequent.
  for (const status of [200, 400, 404, 405, 415]) expect(statuses.get(status) ?? 0).toBeGreaterThan(COUNT / 200)
  expect((await http.ask('GET', '/v1/agents')).status).toBe(200)
}, 120_000)

test('bytes that are not HTTP get a refusal in the same form, and the connection is closed', async () => {
  const host = 'host: 127.0.0.1\r\n'
  const cases: [string, number][] = [
    ['nonsense\r\n\r\n', 400],
    [`GET /healthz HTTP/9.9\r\n${host}\r\n`, 400],
    [`GET /healthz HTTP/1.1\r\n${host}bad header\r\n\r\n`, 400],
    [`GET /healthz HTTP/1.1\r\n${host}x: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    [`POST /v1/recall HTTP/1.1\r\n${host}content-length: x\r\n\r\n{}`, 400],
    [`POST /v1/recall HTTP/1.1\r\n${host}transfer-encoding: chunked\r\n\r\nzz\r\n`, 400],
  ]
  for (const [sent, status] of cases) {
    const [head = '', body = ''] = (await exchange(sent)).split('\r\n\r\n')
    expect([sent.slice(0, 60), head.split('\r\n')[0]]).toEqual([
      sent.slice(0, 60),
      expect.stringMatching(new RegExp(`^HTTP/1\\.1 ${status} `)),
    ])
    expect(JSON.parse(body)).toMatchObject({ status, code: 'VALIDATION_ERROR' })
  }
})

function ask({ method, path, headers, body }: MalformedRequest): Promise<Asked> {
  const { hostname, port } = new URL(http.url)
  return new Promise((resolve, reject) => {
    const asked = request({ agent, hostname, port, method, path, headers: lengthen(headers, body) }, (response) => {
      const parts: Buffer[] = []
      const finish = () => {
        try {
          const text = Buffer.concat(parts).toString()
          const type = response.headers['content-type'] ?? ''
          resolve({
            status: response.statusCode ?? 0,
            headers: new Headers(
              Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
            ),
            body: type.includes('json') && !type.includes('jsonl') && text !== '' ? JSON.parse(text) : text,
          })
        } catch (error) {
          reject(error)
        }
      }
      // An event stream has no end; its beginning is its answer.
      if (response.headers['content-type']?.startsWith('text/event-stream') === true) {
        finish()
        asked.destroy()
        return
      }
      response.on('data', (part: Buffer) => parts.push(part)).once('end', finish)
    })
    asked.once('error', reject)
    asked.end(body)
  })
}

/** Node usually omits the length if a method has no body. */
function lengthen(headers: MalformedRequest['headers'], body: MalformedRequest['body']): Record<string, string> {
  return { ...headers, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }) }
}

function exchange(sent: string): Promise<string> {
  const { hostname, port } = new URL(http.url)
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(Number(port), hostname, () => socket.write(sent))
    socket.setEncoding('utf8').on('data', (part: string) => {
      received += part
    })
    socket.once('close', () => resolve(received)).once('error', reject)
  })
}
