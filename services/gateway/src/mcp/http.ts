import { limits } from '@heddle/contracts'
import type { Logger } from '@heddle/runtime'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../serve-route.js'
import { createMcpServer } from './server.js'

/**
 * MCP over Streamable HTTP, without sessions: each request has a server and a transport of its own, which end with it. So
 * no state is left between requests, and nothing is there in which two callers could meet.
 */
export function serveMcp(
  server: FastifyInstance,
  { callerOf, log }: { callerOf(request: FastifyRequest): Promise<Caller>; log: Logger },
): void {
  const access = { needs: 'any', isCounted: true } as const
  server.post('/mcp', { bodyLimit: limits.httpBodyBytesMax, config: { access } }, async (request, reply) => {
    const { client, role } = await callerOf(request)
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
    const mcp = createMcpServer({ client, role, log })
    reply.raw.once('close', () => {
      mcp.close().catch((error: unknown) => log.debug({ error }, 'a server of MCP did not end well'))
    })
    await mcp.connect(transport as never)
    for (const [name, value] of Object.entries(reply.getHeaders())) reply.raw.setHeader(name, value as string)
    reply.hijack()
    await transport.handleRequest(request.raw, reply.raw, request.body)
    return reply
  })
}
