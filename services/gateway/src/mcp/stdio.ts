import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createMcpServer, type McpServerOptions } from './server.js'

/** Serves MCP on standard input and output, until the other side closes them or `signal` is aborted. */
export async function serveMcpOverStdio(options: McpServerOptions & { readonly signal: AbortSignal }): Promise<void> {
  const server = createMcpServer(options)
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve
    // The transport does not detect the end of its input.
    process.stdin.once('end', resolve)
    options.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await server.connect(new StdioServerTransport() as never)
  await ended
  await server.close()
}
