import { HeddleError, PermanentError, RetryableError } from '@heddle/contracts'
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'

/** The name of the server in errors: its program or host, without arguments or query, which may contain secrets. */
export interface ServerName {
  readonly field: 'command' | 'url'
  readonly label: string
}

/**
 * Converts a failure of an MCP server to a typed error. It quotes no output of the server, which may contain the secrets that
 * the server was given.
 */
export function serverFault(error: unknown, { field, label }: ServerName): HeddleError {
  if (error instanceof HeddleError) return error
  const details = { field, received: label, cause: error }
  if (error instanceof StreamableHTTPError) return httpFault(error, label, details)
  if (error instanceof McpError) {
    if (error.code === ErrorCode.RequestTimeout)
      return new RetryableError('TIMEOUT', `the MCP server "${label}" did not answer in time`, {
        ...details,
        hint: SLOW,
      })
    if (error.code === ErrorCode.ConnectionClosed)
      return new RetryableError(
        'SERVICE_UNAVAILABLE',
        `the MCP server "${label}" ended before it had listed its tools`,
        {
          ...details,
          hint: RUN_IT_YOURSELF,
        },
      )
    return new RetryableError(
      'SERVICE_UNAVAILABLE',
      `the MCP server "${label}" refused to list its tools (JSON-RPC error ${error.code})`,
      { ...details, hint: RUN_IT_YOURSELF },
    )
  }
  const code = error instanceof Error ? codeOf(error) : undefined
  if (field === 'command' && code !== undefined && ['ENOENT', 'EACCES', 'ENOTDIR'].includes(code))
    return new PermanentError('NOT_FOUND', `command: the program "${label}" cannot be started (${code})`, {
      ...details,
      hint: 'Give the path of a program, or one on the PATH; the words after it are its arguments.',
    })
  if (code !== undefined)
    return new RetryableError('SERVICE_UNAVAILABLE', `the MCP server "${label}" cannot be reached (${code})`, {
      ...details,
      hint: field === 'url' ? 'Check the address, and whether the server runs.' : RUN_IT_YOURSELF,
    })
  if (isOfNoProtocol(error))
    return new PermanentError('VALIDATION_ERROR', `the answer of "${label}" is not the Model Context Protocol`, {
      ...details,
      hint: 'Check that it is an MCP server of a current version. Nothing was stored.',
    })
  return new RetryableError('SERVICE_UNAVAILABLE', `the MCP server "${label}" failed`, {
    ...details,
    hint: RUN_IT_YOURSELF,
  })
}

const SLOW = 'Raise --timeout, or run the server by itself to see its output. Nothing was stored.'
const RUN_IT_YOURSELF = 'Run the server by itself to see its output. Nothing was stored.'

function httpFault({ code = 0 }: StreamableHTTPError, label: string, details: object): HeddleError {
  if (code === 401 || code === 403)
    return new PermanentError('UNAUTHORIZED', `the MCP server "${label}" refused access (HTTP ${code})`, {
      ...details,
      hint: 'Give the variable with its token: --header Authorization=TOKEN_VARIABLE.',
    })
  if (code >= 300 && code < 400)
    return new PermanentError('FORBIDDEN', `the MCP server "${label}" redirects to another address (HTTP ${code})`, {
      ...details,
      hint: 'Redirects to other addresses are not followed: give the final address of the server.',
    })
  if (code === 404 || code === 405)
    return new PermanentError('NOT_FOUND', `there is no MCP server at this address of "${label}" (HTTP ${code})`, {
      ...details,
      hint: 'Give the whole address of its Streamable HTTP endpoint, such as https://example.com/mcp.',
    })
  if (code < 300)
    return new PermanentError('VALIDATION_ERROR', `the answer of "${label}" is not the Model Context Protocol`, {
      ...details,
      hint: 'Give the address of a Streamable HTTP endpoint, such as https://example.com/mcp.',
    })
  return new RetryableError('SERVICE_UNAVAILABLE', `the MCP server "${label}" failed (HTTP ${code})`, {
    ...details,
    hint: 'Try again later, or contact the operator of the server.',
  })
}

/** Whether the response is not JSON, violates the schemas of the SDK, or has an unsupported protocol version. */
function isOfNoProtocol(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const isUnsupported = error.message.startsWith("Server's protocol version is not supported")
  return isUnsupported || error instanceof SyntaxError || error.name.endsWith('ZodError')
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
