import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findUp } from '@heddle/client/connect'
import { RetryableError } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { announceUp, withdrawUp } from '../presence/presence.js'
import { type HealthServer, startHealthServer } from './health-server.js'

const readMetrics = async () => ({ type: 'text/plain; version=0.0.4', text: 'a_total 1\n' })

/** A request whose Host header is not the address that it is sent to. */
async function statusFor(port: number, host: string): Promise<number | undefined> {
  const sent = request({ port, host: '127.0.0.1', path: '/healthz', headers: { host } })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

async function withServer(
  work: (server: HealthServer) => Promise<void>,
  options: { host?: string; identity?: Record<string, unknown>; checkReady?: () => Promise<void> } = {},
): Promise<void> {
  const { host = '127.0.0.1', identity = {}, checkReady = async () => undefined } = options
  const server = await startHealthServer({ host, port: 0, identity, checkReady, readMetrics })
  try {
    await work(server)
  } finally {
    await server.close()
  }
}

test('a port in use is a typed error with a hint', async () => {
  await withServer(async ({ port }) => {
    await expect(
      startHealthServer({ port, identity: {}, checkReady: async () => undefined, readMetrics }),
    ).rejects.toMatchObject({
      code: 'CONFLICT',
      field: 'port',
      received: String(port),
      hint: expect.stringContaining('--port'),
    })
  })
})

test('metrics are served for Prometheus', async () => {
  await withServer(async ({ port }) => {
    const metrics = await fetch(`http://127.0.0.1:${port}/metrics`)
    expect(metrics.headers.get('content-type')).toContain('text/plain')
    expect(await metrics.text()).toBe('a_total 1\n')
  })
})

test('healthz reports the process, readyz its servers', async () => {
  const checkReady = async () => {
    throw new RetryableError('SERVICE_UNAVAILABLE', 'the database does not answer')
  }
  await withServer(
    async ({ port }) => {
      const health = await fetch(`http://127.0.0.1:${port}/healthz`)
      expect([health.status, await health.json()]).toEqual([200, { status: 'ok', pid: 7 }])
      const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
      expect([ready.status, await ready.json()]).toMatchObject([503, { code: 'SERVICE_UNAVAILABLE' }])
      expect((await fetch(`http://127.0.0.1:${port}/v1/threads`)).status).toBe(404)
    },
    { identity: { pid: 7 }, checkReady },
  )
})

test('on loopback a request to any other host is refused; on all addresses one to a name is, which a page may own', async () => {
  await withServer(async ({ port }) => {
    for (const host of ['localhost', `127.0.0.1:${port}`]) expect(await statusFor(port, host)).toBe(200)
    for (const host of ['10.1.2.3:80', 'evil.example']) expect(await statusFor(port, host)).toBe(403)
  })
  await withServer(
    async ({ port }) => {
      for (const host of ['10.1.2.3:80', '[fd00::1]:80', 'localhost']) expect(await statusFor(port, host)).toBe(200)
      for (const host of ['evil.example', 'evil.example:80']) expect(await statusFor(port, host)).toBe(403)
    },
    { host: '0.0.0.0', identity: { pid: 7 } },
  )
})

test('a running "up" is recognized by its answer, and another process on its port is not', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'heddle-presence-'))
  try {
    expect(await findUp(dataDir)).toBeNull()
    await withServer(
      async ({ port }) => {
        const up = { pid: 7, port, startedAt: '2026-01-01T00:00:00.000Z' }
        expect(await announceUp(dataDir, up)).toBe(true)
        expect(await findUp(dataDir)).toEqual(up)
        expect(await announceUp(dataDir, { ...up, pid: 8 })).toBe(false)
        expect(await findUp(dataDir)).toEqual(up)
      },
      { identity: { pid: 7, dataDir } },
    )
    expect(await findUp(dataDir)).toBeNull()
    await withServer(
      async ({ port }) => {
        expect(await announceUp(dataDir, { pid: 8, port, startedAt: '2026-01-01T00:00:01.000Z' })).toBe(true)
        expect(await findUp(dataDir)).toBeNull()
      },
      { identity: { pid: 9, dataDir } },
    )
    await withdrawUp(dataDir, 8)
    expect(await findUp(dataDir)).toBeNull()
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})
