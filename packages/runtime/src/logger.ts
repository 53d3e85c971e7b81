import { type DestinationStream, type Logger, pino } from 'pino'
import { withoutCredentials } from './credentials.js'

export type { Logger } from 'pino'

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

export interface LoggerOptions {
  level: LogLevel
  /** The process: `heddle`, `gateway`, or a stage. Stands in each line. */
  name: string
  /** Where lines go; default standard error, because standard output belongs to the answers of commands. */
  destination?: DestinationStream
}

/** Keys whose values are what users wrote, or secrets: they are never logged, at the top of a line or one level below. */
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

/** Keys that hold addresses of servers: shown without user name and password. */
const addressKeys = ['url', 'databaseUrl', 'redisUrl', 'adminDatabaseUrl', 'connectionString']

const REDACTED = '[redacted]'

/**
 * The one way to write a log: JSON lines, object first (`log.info({ contextId }, 'embedded')`).
 *
 * Message contents, prompts, summaries and secrets are redacted by key, and addresses in any error message lose their
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

/** Counts are no secret: `{ messages: 12 }` stays. */
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
