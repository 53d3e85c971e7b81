import type { HeddleError } from '@heddle/contracts'
import { within } from '@heddle/runtime'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { guardedFetch } from './guarded-fetch.js'
import { toolListLimits } from './limits.js'
import type { ServerName } from './server-faults.js'

/** An MCP server: a program that is started here, or one that runs elsewhere. */
export type ToolServer =
  | {
      readonly kind: 'process'
      readonly program: string
      readonly args: readonly string[]
      readonly cwd: string
      /** Besides PATH, HOME, LOGNAME, SHELL, TERM and USER, which every program gets: nothing else is passed on. */
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

/** How long a server over HTTP may take to hear that its session is over. */
const GOODBYE_MS = 1_000

/** @param onRefused hears of what ends an answer half-way */
export function openConnection(server: ToolServer, onRefused: (error: HeddleError) => void): Connection {
  if (server.kind === 'process') {
    const transport = new ProcessTransport({
      command: server.program,
      args: [...server.args],
      cwd: server.cwd,
      env: { ...server.env },
      // Not shown and not kept: what a server prints may hold what it was given.
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
    // Its optional fields are `undefined` where exactOptionalPropertyTypes wants them absent.
    transport: transport as Transport,
    name: { field: 'url', label: url.host },
    async close() {
      await within(transport.terminateSession(), { timeoutMs: GOODBYE_MS, late: () => {} }).catch(() => undefined)
      await transport.close()
    },
  }
}

/**
 * The client closes a transport that failed without waiting for it, and a second close would find nothing to wait for: the
 * process would outlive the command. So every close is the first one.
 */
class ProcessTransport extends StdioClientTransport {
  #closed: Promise<void> | undefined

  override close(): Promise<void> {
    this.#closed ??= super.close()
    return this.#closed
  }
}
