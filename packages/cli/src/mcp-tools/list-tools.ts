import { PermanentError, RetryableError } from '@heddle/contracts'
import { untilStopped, withDeadline } from '@heddle/runtime'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { tooLargeAnswer } from './guarded-fetch.js'
import { toolListLimits } from './limits.js'
import { openConnection, type ToolServer } from './open-connection.js'
import { serverFault } from './server-faults.js'
import { type ToolList, ToolListing } from './tool-list.js'

export interface ListToolsOptions {
  /** For the whole exchange, including the start of the server. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/**
 * Connects to an MCP server, lists all of its tools, and ends the connection and the process again.
 *
 * @throws HeddleError `FORBIDDEN` for a private address, `TIMEOUT`, `NOT_FOUND`, `UNAUTHORIZED`, `SERVICE_UNAVAILABLE`,
 * `PAYLOAD_TOO_LARGE` or `VALIDATION_ERROR`
 */
export async function listServerTools(server: ToolServer, options: ListToolsOptions): Promise<ToolList> {
  const refused = new AbortController()
  const connection = openConnection(server, (error) => refused.abort(error))
  const signal = AbortSignal.any([options.signal, refused.signal])
  const { timeoutMs } = options
  let unreadable = 0
  // It declares no capabilities, so that a server can send no requests: no sampling, no roots, no elicitation.
  const client = new Client({ name: 'heddle', version: '1' })
  client.onerror = (error) => {
    if (error.message.startsWith('ReadBuffer exceeded')) refused.abort(tooLargeAnswer())
    else unreadable++
  }
  try {
    const work = (either: AbortSignal) => untilStopped(either, gather(client, { timeout: timeoutMs, signal: either }))
    return await withDeadline(work, { timeoutMs, late: tooSlow, signal })
  } catch (error) {
    signal.throwIfAborted()
    throw serverFault(error, connection.name)
  } finally {
    await connection.close()
  }

  async function gather(on: Client, requestOptions: { timeout: number; signal: AbortSignal }): Promise<ToolList> {
    await on.connect(connection.transport, requestOptions)
    return await listAll(on, requestOptions)
  }

  function tooSlow(): RetryableError {
    const { field, label } = connection.name
    const noise = unreadable === 0 ? '' : `, and sent ${unreadable} messages that are not MCP`
    const detail = `the MCP server "${label}" did not list its tools within ${timeoutMs} ms${noise}`
    return new RetryableError('TIMEOUT', detail, {
      field,
      received: label,
      hint: 'Raise --timeout, or run the server by itself to see its output. Nothing was stored.',
    })
  }
}

/**
 * Not `client.listTools`, which compiles each output schema into a validator: no tool is called here, and a schema from a
 * third party may take very long to compile.
 */
async function listAll(client: Client, options: { timeout: number; signal: AbortSignal }): Promise<ToolList> {
  if (client.getServerCapabilities()?.tools === undefined)
    throw new PermanentError('VALIDATION_ERROR', 'the MCP server offers no tools', {
      field: 'server',
      hint: 'It may offer resources or prompts. Nothing was changed.',
    })
  const listing = new ToolListing()
  let cursor: string | undefined
  for (let page = 1; page <= toolListLimits.pagesMax; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const answer = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, options)
    for (const tool of answer.tools) listing.add(tool)
    if (!answer.nextCursor) return listing.list()
    if (answer.nextCursor === cursor) throw endless('the same page again and again')
    cursor = answer.nextCursor
  }
  throw endless(`more than ${toolListLimits.pagesMax} pages`)
}

function endless(what: string): PermanentError {
  return new PermanentError('PAYLOAD_TOO_LARGE', `the MCP server lists its tools in ${what}`, {
    field: 'tools',
    hint: 'Nothing was stored. The server must be corrected.',
  })
}
