import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { dismiss } from '@heddle/test-support/forked'

/*
 * The least that any proxy in Node adds: a process that writes to the provider what it reads, and back. It is started from this
 * file, too.
 */

export interface BareRelay {
  readonly url: string
  stop(): Promise<void>
}

export async function startBareRelay(provider: string): Promise<BareRelay> {
  const child = fork(fileURLToPath(import.meta.url), [provider], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [url] = (await once(child, 'message')) as [string]
  return { url, stop: () => dismiss(child) }
}

async function relay(provider: URL): Promise<string> {
  const agent = new Agent({ keepAlive: true })
  const server = createServer((incoming, response) => {
    const { method, url: path, headers } = incoming
    const { hostname, port, host } = provider
    const sending = request({ hostname, port, path, method, headers: { ...headers, host }, agent }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(response)
    })
    sending.on('error', () => response.destroy())
    incoming.pipe(sending)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  // The channel also closes when the parent was killed.
  process.on('disconnect', () => process.exit())
  process.send(await relay(new URL(process.argv[2] ?? '')))
}
