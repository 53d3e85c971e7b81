import type { CommandContext } from '../connect/context.js'
import { UsageError } from '../output/failure.js'
import { commandWords } from './command-words.js'
import type { ToolServer } from './open-connection.js'

/** The options for an MCP server. */
export interface ServerOptions {
  readonly command?: readonly string[]
  readonly env?: readonly string[]
  readonly url?: string
  readonly header?: readonly string[]
  readonly allowPrivate?: true
}

type Environment = Pick<CommandContext, 'env' | 'cwd'>

/**
 * Secrets are given by the names of variables, because other users of a machine can read the arguments of programs.
 *
 * @param words the words after `--`
 * @throws UsageError
 */
export function toolServerOf(options: ServerOptions, words: readonly string[], environment: Environment): ToolServer {
  const { command = [], url } = options
  const program = [...command, ...words]
  if (url === undefined) {
    if (program.length > 0) return processServer(options, program, environment)
    throw new UsageError('command', 'must be given, or --url', 'neither', CHOOSE)
  }
  if (program.length === 0) return httpServer(options, url, environment)
  const rule = 'is the address of the MCP server itself here, and cannot be combined with a command'
  throw new UsageError('url', rule, undefined, GATEWAY)
}

const CHOOSE = 'Give --command npx -- -y some-mcp-server, or --url https://example.com/mcp.'
/** Explains `--url`, which is the gateway in all other commands. */
const GATEWAY =
  'Omit --url to query a program. For the gateway that stores the tools, set HEDDLE_URL: HEDDLE_URL=http://127.0.0.1:4680 heddle items sync ... --command npx -- -y some-mcp-server'

function processServer(
  { env = [], header, allowPrivate }: ServerOptions,
  given: readonly string[],
  environment: Environment,
): ToolServer {
  if (header !== undefined || allowPrivate)
    throw new UsageError(
      header ? 'header' : 'allow-private',
      'goes with --url',
      undefined,
      'Pass variables with --env.',
    )
  const [only = ''] = given
  const words = given.length === 1 ? commandWords(only) : given
  const [program, ...args] = words ?? []
  if (!program) throw new UsageError('command', 'must name a program, with all quotations closed', undefined, CHOOSE)
  const passed = env.map((name) => [name, variable('env', name, environment)] as const)
  return { kind: 'process', program, args, cwd: environment.cwd, env: Object.fromEntries(passed) }
}

function httpServer(
  { env, header = [], allowPrivate }: ServerOptions,
  text: string,
  environment: Environment,
): ToolServer {
  if (env !== undefined) throw new UsageError('env', 'goes with --command', undefined, 'Send headers with --header.')
  const url = readUrl(text)
  const headers = header.map((pair) => {
    const [, name = '', variableName = ''] = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+)=(.*)$/s.exec(pair) ?? []
    if (name === '')
      throw new UsageError('header', 'must be a name, =, and a variable', undefined, 'As in Authorization=DOCS_AUTH.')
    const value = variable('header', variableName, environment)
    if (!/^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(value))
      throw new UsageError('header', `the variable ${variableName} is not a valid header value`, undefined, PRINTABLE)
    return [name, value] as const
  })
  return { kind: 'http', url, headers: Object.fromEntries(headers), allowPrivate: allowPrivate === true }
}

const PRINTABLE = 'A header is one line of printable ASCII, without spaces around it.'

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  // It may contain a token, so the received value is not shown.
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError('url', 'must be an http or https address', undefined, CHOOSE)
  if (url.username !== '' || url.password !== '')
    throw new UsageError('url', 'must contain no user name and no password', url.host, 'Send them with --header.')
  return url
}

function variable(field: 'env' | 'header', name: string, { env }: Environment): string {
  const isName = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(name)
  const value = isName ? env[name] : undefined
  if (value !== undefined && value !== '') return value
  // Not shown if it is not a valid name: it may be the secret itself, given instead of its variable.
  const rule = isName ? `the variable ${name} is not set` : 'must name a variable, and not be a value itself'
  throw new UsageError(
    field,
    rule,
    undefined,
    'Set it, and give only its name: secrets do not belong on command lines.',
  )
}
