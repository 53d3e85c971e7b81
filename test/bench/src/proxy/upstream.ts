import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FastProvider {
  readonly url: string
  /** Requests that arrived whole. */
  readonly requests: number
  close(): Promise<void>
}

const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

/** Streams a short answer as soon as a request has arrived, so that all other time is of whoever is in between. */
export async function startFastProvider(): Promise<FastProvider> {
  let requests = 0
  const server = createServer((incoming, response) => {
    let bytes = 0
    incoming.on('data', (part: Buffer) => {
      bytes += part.length
    })
    incoming.on('end', () => {
      requests++
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const part of answer(requests, bytes)) response.write(part)
      response.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() {
      return requests
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function answer(number: number, bytes: number): string[] {
  const usage = { input_tokens: Math.round(bytes / 4), output_tokens: 5, cache_read_input_tokens: 0 }
  const message = {
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-4-5',
    content: [],
    usage,
  }
  return [
    event('message_start', { message }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: `Answer ${number}.` } }),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }),
    event('message_stop', {}),
  ]
}
