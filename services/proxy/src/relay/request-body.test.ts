import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Duplex, PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { RequestBody } from './request-body.js'

const MIB = 1024 * 1024

/** A connection to an upstream that lists the bytes of each write, and takes them once the test says so. */
class WrittenSocket extends Duplex {
  readonly writes: Buffer[] = []
  #take: (() => void) | null = null

  constructor(private readonly isSlow = false) {
    super()
  }

  setNoDelay() {}
  setKeepAlive() {}
  setTimeout() {}

  takeMore(): void {
    const take = this.#take
    this.#take = null
    take?.()
  }

  override _read(): void {}

  override _writev(chunks: { chunk: Buffer | string; encoding: BufferEncoding }[], taken: () => void): void {
    this.writes.push(
      Buffer.concat(
        chunks.map(({ chunk, encoding }) => (typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk)),
      ),
    )
    if (this.isSlow) this.#take = taken
    else taken()
  }
}

function openBody({ isSlow = false, bytesMax = 32 * MIB, bytes = 0 } = {}) {
  const caller = new PassThrough({ highWaterMark: 64 * MIB })
  const body = new RequestBody(caller as unknown as IncomingMessage, { bytesMax, reserve: () => true })
  const socket = new WrittenSocket(isSlow)
  const headers = ['Host', 'upstream', 'Content-Length', String(bytes)]
  const open = () => request({ method: 'POST', headers, createConnection: () => socket as never }).on('error', () => {})
  return { caller, body, socket, open }
}

const part = (text: string) => Buffer.alloc(64 * 1024, text)

test('parts that arrive in one iteration of the event loop are one write to the upstream', async () => {
  const { caller, body, socket, open } = openBody({ bytes: 5 * 64 * 1024 })
  body.sendTo(open())
  await setImmediate()
  for (const text of ['a', 'b', 'c']) caller.write(part(text))
  await setImmediate()
  await setImmediate()
  expect(socket.writes.map((bytes) => bytes.subarray(bytes.indexOf('\r\n\r\n') + 4).length)).toEqual([3 * 64 * 1024])
  caller.write(part('d'))
  caller.end(part('e'))
  await once(caller, 'end')
  await setImmediate()
  const sent = Buffer.concat(socket.writes)
  expect(sent.subarray(sent.indexOf('\r\n\r\n') + 4).equals(Buffer.concat(['a', 'b', 'c', 'd', 'e'].map(part)))).toBe(
    true,
  )
})

test('a caller is stopped while its upstream does not take what was sent, and goes on afterwards', async () => {
  const { caller, body, socket, open } = openBody({ isSlow: true, bytes: MIB })
  body.sendTo(open())
  await setImmediate()
  for (let sent = 0; sent < 15; sent++) {
    caller.write(part('x'))
    await setImmediate()
  }
  expect(caller.isPaused()).toBe(true)
  expect(caller.readableLength).toBeGreaterThan(MIB / 2)
  caller.end(part('y'))
  while (!caller.readableEnded) {
    socket.takeMore()
    await setImmediate()
  }
  expect((await body.whole())?.length).toBe(MIB)
})

test('the whole body is there once it has arrived, and not if it was too long or was cut off', async () => {
  const kept = openBody({ bytes: 2 })
  kept.caller.write('a')
  await setImmediate()
  expect(kept.body.join()).toBeNull()
  kept.caller.end('b')
  expect((await kept.body.whole())?.toString()).toBe('ab')
  expect([kept.body.isRepeatable, kept.body.join()?.toString()]).toEqual([true, 'ab'])

  const long = openBody({ bytesMax: 1 })
  long.caller.end('ab')
  expect([await long.body.whole(), long.body.isRepeatable]).toEqual([null, false])

  const cut = openBody()
  cut.caller.write('a')
  cut.caller.destroy()
  expect(await cut.body.whole()).toBeNull()
})
