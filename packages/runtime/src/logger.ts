import { type DestinationStream, type Logger, pino } from 'pino'
import { withoutCredentials } from './credentials.js'

export type { Logger } from 'pino'

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

export interface LoggerOptions {
  level: LogLevel
  /** The process: `heddle`, `gateway`, or a stage. Part of each line. */
  name: string
  /** Destination of lines; default standard error, because standard output is for the results of commands. */
  destination?: DestinationStream
}

/** Keys whose values are user texts, or secrets: never logged, at the top level or one level below. */
const secretKeys = [
  'content',
  'prompt',
  'systemPrompt',
  'summary',
  'text',
  'messages',
  'thinking',
  'arguments',
  'password',
  'apiKey',
  'authorization',
  'token',
  'secret',
]

/** Keys with URLs of servers: shown without user name and password. */
const addressKeys = ['url', 'databaseUrl', 'redisUrl', 'directDatabaseUrl', 'adminDatabaseUrl', 'connectionString']

const REDACTED = '[redacted]'

/**
 * The only logger: JSON lines, object first (`log.info({ contextId }, 'embedded')`).
 *
 * Message contents, prompts, summaries and secrets are redacted by key, and URLs in any error message lose their
 * credentials.
 */
export function createLogger(options: LoggerOptions): Logger {
  const keys = [...secretKeys, ...addressKeys]
  return pino(
    {
      name: options.name,
      level: options.level,
      redact: {
        paths: keys.flatMap((key) => [key, `*.${key}`]),
        censor: (value, path) => redact(value, path.at(-1) ?? ''),
      },
      serializers: { error: serializeError, err: serializeError },
    },
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  )
}

/** Counts are not secret: `{ messages: 12 }` is kept. */
function redact(value: unknown, key: string): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return value
  return typeof value === 'string' && addressKeys.includes(key) ? withoutCredentials(value) : REDACTED
}

interface SerializedError {
  type: string
  message: string
  code?: unknown
  stack?: string
  cause?: SerializedError
}

const CAUSES_MAX = 5

function serializeError(error: unknown, depth = 0): SerializedError {
  if (!(error instanceof Error)) return { type: typeof error, message: withoutCredentials(String(error)) }
  const code = 'code' in error ? error.code : undefined
  return {
    type: error.name,
    message: withoutCredentials(error.message),
    ...(code !== undefined && { code }),
    ...(error.stack !== undefined && { stack: withoutCredentials(error.stack) }),
    ...(error.cause !== undefined && depth < CAUSES_MAX && { cause: serializeError(error.cause, depth + 1) }),
  }
}
