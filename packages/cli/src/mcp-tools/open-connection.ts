import type { HeddleError } from '@heddle/contracts'
import { within } from '@heddle/runtime'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { guardedFetch } from './guarded-fetch.js'
import { toolListLimits } from './limits.js'
import type { ServerName } from './server-faults.js'

/** An MCP server: a program to start here, or a running server. */
export type ToolServer =
  | {
      readonly kind: 'process'
      readonly program: string
      readonly args: readonly string[]
      readonly cwd: string
      /** Variables for the program, in addition to PATH, HOME, LOGNAME, SHELL, TERM and USER; no others are passed. */
      readonly env: Readonly<Record<string, string>>
    }
  | {
      readonly kind: 'http'
      readonly url: URL
      readonly headers: Readonly<Record<string, string>>
      readonly allowPrivate: boolean
    }

interface Connection {
  readonly transport: Transport
  readonly name: ServerName
  close(): Promise<void>
}

/** Time limit of the request that ends the session of a server over HTTP. */
const GOODBYE_MS = 1_000

/** @param onRefused called with the error that cut an answer */
export function openConnection(server: ToolServer, onRefused: (error: HeddleError) => void): Connection {
  if (server.kind === 'process') {
    const transport = new ProcessTransport({
      command: server.program,
      args: [...server.args],
      cwd: server.cwd,
      env: { ...server.env },
      // Neither shown nor stored: a server may print the secrets that it was given.
      stderr: 'ignore',
      maxBufferSize: toolListLimits.answerBytesMax,
    })
    return { transport, name: { field: 'command', label: server.program }, close: () => transport.close() }
  }
  const { url, headers, allowPrivate } = server
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { ...headers } },
    fetch: guardedFetch({ allowPrivate, onRefused }),
  })
  return {
    // Cast because its optional fields are typed as `undefined`, which exactOptionalPropertyTypes refuses.
    transport: transport as Transport,
    name: { field: 'url', label: url.host },
    async close() {
      await within(transport.terminateSession(), { timeoutMs: GOODBYE_MS, late: () => {} }).catch(() => undefined)
      await transport.close()
    },
  }
}

/**
 * The client closes a failed transport without awaiting it, and a second close would return at once, so that the process would
 * outlive the command. Here all calls of close await the first one.
 */
class ProcessTransport extends StdioClientTransport {
  #closed: Promise<void> | undefined

  override close(): Promise<void> {
    this.#closed ??= super.close()
    return this.#closed
  }
}
