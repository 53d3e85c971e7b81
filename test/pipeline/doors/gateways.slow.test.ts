import { randomUUID } from 'node:crypto'
import { connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabaseHome, type Running } from '../cli/cli-support.js'
import { openEvents } from './http-support.js'

interface Proxy {
  readonly url: string
  /** The target of new connections. */
  leadTo(port: number): void
}

/** One address before several gateways. */
async function openProxy(): Promise<Proxy> {
  let target = 0
  const sockets = new Set<Socket>()
  const server = createServer((incoming) => {
    const outgoing = connect(target, '127.0.0.1')
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => other.destroy())
    }
    incoming.pipe(outgoing).pipe(incoming)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  )
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    leadTo: (port) => {
      target = port
    },
  }
}

async function portOf(gateway: Running): Promise<number> {
  return JSON.parse(await gateway.firstLine).port
}

test('two gateways behind one address act as one: events continue, idempotency keys hold, revoked keys are refused', async () => {
  const home = await openDatabaseHome()
  const { document: made } = await home.heddle('keys', 'create', '--name', 'agent', '--role', 'agent', '--json')
  const workers = home.start(['worker', 'all', '--json'])
  const gateways = [0, 1].map(() => home.start(['gateway', '--port', '0', '--json']))
  const [first = 0, second = 0] = await Promise.all(gateways.map(portOf))
  await workers.firstLine
  const proxy = await openProxy()
  proxy.leadTo(first)
  const headers = { authorization: `Bearer ${made.key}`, 'content-type': 'application/json', connection: 'close' }
  const append = async (content: string, more: Record<string, string> = {}) => {
    const body = JSON.stringify({ agent: 'coder', messages: [{ role: 'user', content }] })
    const path = `${proxy.url}/v1/threads/run/messages`
    const response = await fetch(path, { method: 'POST', headers: { ...headers, ...more }, body })
    const answer = (await response.json()) as { stored: number; repeated: number }
    return { status: response.status, body: answer }
  }

  // Events from the time without a listener come from the remaining gateway, once.
  const streamUrl = `${proxy.url}/v1/events?topics=message.stored&thread=run`
  const events = await openEvents(streamUrl, { authorization: headers.authorization })
  const key = randomUUID()
  const stored = await append('one', { 'idempotency-key': key })
  expect(stored).toMatchObject({ status: 200, body: { stored: 1 } })
  const before = await events.next()
  proxy.leadTo(second)
  gateways[0]?.kill('SIGKILL')
  await gateways[0]?.ended
  await append('two')
  const resumed = await openEvents(streamUrl, {
    authorization: headers.authorization,
    'last-event-id': String(before?.id),
  })
  await append('three')
  // Appends that came close together share one event.
  const heads: number[] = []
  while (heads.at(-1) !== 3) heads.push((await resumed.next())?.data.headSeq)
  expect(heads).not.toContain(1)
  resumed.close()

  expect((await append('one', { 'idempotency-key': key })).body).toMatchObject({ stored: 0, repeated: 1 })
  expect((await append('other', { 'idempotency-key': key })).body).toMatchObject({ code: 'CONFLICT' })

  const ask = async () => (await fetch(`${proxy.url}/v1/threads/run`, { headers })).status
  expect(await ask()).toBe(200)
  await home.heddle('keys', 'revoke', made.id)
  const revokedMs = performance.now()
  let letInMs = revokedMs
  for (let askedMs = revokedMs; (await ask()) === 200; askedMs = performance.now()) letInMs = askedMs
  expect(letInMs - revokedMs).toBeLessThan(1_000)
})

test('a gateway on a public address starts before a key exists, refuses every request, and says what to do', async () => {
  const home = await openDatabaseHome()
  const gateway = home.start(['gateway', '--port', '0', '--host', '0.0.0.0', '--json'])
  const port = await portOf(gateway)
  const ask = async (authorization: string) =>
    (await fetch(`http://127.0.0.1:${port}/v1/agents`, { headers: { authorization } })).status
  expect(await ask('Bearer none')).toBe(401)
  const { document: made } = await home.heddle('keys', 'create', '--name', 'admin', '--role', 'admin', '--json')
  expect(await ask(`Bearer ${made.key}`)).toBe(200)
  gateway.kill('SIGTERM')
  const { code, stderr } = await gateway.ended
  expect(code).toBe(0)
  expect(stderr).toContain('heddle keys create --name admin --role admin')
})
