import { type ErrorCode, type ErrorData, errorData, PermanentError } from '@heddle/contracts'
import { CommanderError } from 'commander'
import { safeText } from './safe-text.js'

export const exitCodes = { success: 0, error: 1, usage: 2 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** An error of the command line: an unknown option, a missing argument, or an invalid value. */
export class UsageError extends PermanentError {
  override name = 'UsageError'
  constructor(field: string, rule: string, received: string | undefined, hint: string) {
    super('VALIDATION_ERROR', `${field}: ${rule}`, { field, hint, ...(received !== undefined && { received }) })
  }
}

/** The command was stopped by a signal. */
export class InterruptedError extends Error {
  override name = 'InterruptedError'
  readonly signalName: NodeJS.Signals
  constructor(signalName: NodeJS.Signals) {
    super(`stopped by ${signalName}`)
    this.signalName = signalName
  }
}

const SIGNAL_EXIT_CODES: Partial<Record<NodeJS.Signals, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }

/** The process's exit code for whatever a command threw. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError || error instanceof CommanderError) return exitCodes.usage
  if (error instanceof InterruptedError) return SIGNAL_EXIT_CODES[error.signalName] ?? exitCodes.error
  return exitCodes.error
}

/** Converts an error of Commander into a {@link UsageError}. */
export function fromCommander(error: CommanderError): UsageError {
  // For a missing subcommand, Commander prints help and its message is useless.
  const detail =
    error.code === 'commander.help'
      ? 'a subcommand is missing'
      : error.message.replace(/^error: /, '').replace(/\s+/g, (run) => (run.includes('\n') ? ' ' : run))
  const named = /'([^']*)'/.exec(detail)?.[1]
  const hint =
    named === '--url'
      ? 'This command is not available over HTTP: run it where the store can be reached, without --url.'
      : 'Run the command with --help: it lists the options and shows examples.'
  return new UsageError('command line', detail, named, hint)
}

/** The error to show for any thrown value; it always has a hint. */
export function describeFailure(error: unknown): ErrorData & { hint: string } {
  if (error instanceof InterruptedError) {
    return { code: 'TIMEOUT', detail: error.message, hint: 'Run the command again: stored data is kept.' }
  }
  const data = errorData(error instanceof CommanderError ? fromCommander(error) : error)
  return { ...data, hint: data.hint ?? hints[data.code] }
}

/**
 * The three lines of an error for people: what failed, why, and what to do.
 */
export function failureLines(error: unknown): { what: string; why: string; hint: string } {
  const { code, detail, received, hint, retryAfter } = describeFailure(error)
  const shown = received !== undefined && !detail.includes(received) ? ` (received ${received})` : ''
  const later = retryAfter === undefined ? '' : ` Try again in ${retryAfter} s.`
  return {
    what: error instanceof InterruptedError ? 'Stopped.' : titles[code],
    why: safeText(`${detail}${shown}`),
    hint: safeText(`${hint}${later}`),
  }
}

const titles: Record<ErrorCode, string> = {
  VALIDATION_ERROR: 'That is not valid.',
  NOT_FOUND: 'That does not exist.',
  CONFLICT: 'That conflicts with stored data.',
  AMBIGUOUS_REFERENCE: 'That reference matches more than one message.',
  PAYLOAD_TOO_LARGE: 'That is too large.',
  UNAUTHORIZED: 'Access was refused.',
  FORBIDDEN: 'That is not allowed.',
  RATE_LIMITED: 'Too many requests.',
  BUDGET_TOO_SMALL: 'The budget is too small.',
  TIMEOUT: 'It took too long.',
  SERVICE_UNAVAILABLE: 'A service cannot be reached.',
  INTERNAL: 'Something unexpected went wrong.',
}

const hints: Record<ErrorCode, string> = {
  VALIDATION_ERROR: 'Correct the value and run the command again; --help shows what is accepted.',
  NOT_FOUND: 'List what exists with "heddle threads list" or "heddle agents list"; HEDDLE_PROJECT names the project.',
  CONFLICT: 'Use another id or name, or import the session under another thread with --thread.',
  AMBIGUOUS_REFERENCE: 'Use a longer reference, or name the thread with --thread.',
  PAYLOAD_TOO_LARGE: 'Split or shorten the message named above; nothing was stored.',
  UNAUTHORIZED: 'Check the user and the password in DATABASE_URL (or REDIS_URL).',
  FORBIDDEN: 'Request the permissions named above, or run "heddle doctor".',
  RATE_LIMITED: 'Wait a moment and run the command again.',
  BUDGET_TOO_SMALL: 'Give a larger --budget.',
  TIMEOUT: 'Run "heddle queues" to see what is waiting, and "heddle doctor" to check the servers.',
  SERVICE_UNAVAILABLE: 'Run "heddle doctor": it shows which server is missing and what to do.',
  INTERNAL: 'Run it again with HEDDLE_LOG_LEVEL=debug and report its output.',
}
