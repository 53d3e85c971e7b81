import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReplyServer {
  /** The base address for packages of OpenAI. */
  readonly openAiUrl: string
  /** The base address for packages of Anthropic. */
  readonly anthropicUrl: string
  /** The bodies of the requests, in order. */
  readonly requests: readonly Record<string, unknown>[]
  /** The answers to the next requests, one each, as JSON. */
  reply(...bodies: readonly object[]): void
  close(): Promise<void>
}

/** Acts as a provider that answers without streaming: with whole prepared replies. */
export async function startReplyServer(): Promise<ReplyServer> {
  const waiting: object[] = []
  const requests: Record<string, unknown>[] = []
  const server = createServer(async (incoming, response) => {
    const parts: Buffer[] = []
    for await (const part of incoming) parts.push(part as Buffer)
    requests.push(JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>)
    const body = waiting.shift()
    response.writeHead(body === undefined ? 500 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { error: { message: 'no reply was given beforehand' } }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    openAiUrl: `${url}/v1`,
    anthropicUrl: url,
    requests,
    reply: (...bodies) => void waiting.push(...bodies),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
