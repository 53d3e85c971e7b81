import { type Config, type ConfigFlags, createLogger, type Logger, loadConfig } from '@heddle/runtime'
import type { ExitCode } from '../output/failure.js'
import type { Printer } from '../output/printer.js'

/** Options that every command which opens a store has. */
export interface CommonOptions {
  readonly json?: true
  readonly data?: string
  readonly project?: string
}

/** What a command gets besides its own arguments: nothing of the process is reached for around it. */
export interface CommandContext {
  readonly printer: Printer
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborted when the command is asked to stop; its reason is an `InterruptedError`. */
  readonly signal: AbortSignal
  /** Asks the person at the terminal; null where there is none. */
  ask(question: string): Promise<string | null>
  /** Has whatever else this process would print go into the log of a service. */
  ownOutput(log: Logger): void
  /** Whether this command may make the data of a folder that holds none. */
  mayMakeData(): boolean
  /** For a command that ends well and still has something to say, such as a check that failed. */
  setExitCode(code: ExitCode): void
}

/** The configuration with the options of the command line on top. */
export function configOf(context: CommandContext, options: CommonOptions, flags: ConfigFlags = {}): Config {
  return loadConfig({
    env: context.env,
    cwd: context.cwd,
    flags: {
      ...(options.data !== undefined && { dataDir: options.data }),
      ...(options.project !== undefined && { project: options.project }),
      ...flags,
    },
  })
}

/**
 * The log of a command. Services log from `info` on; a command for people reports by itself, and logs only when a level
 * was asked for: a log line between its lines would be noise, and with `--json` stderr holds nothing but an error.
 */
export function loggerOf(context: CommandContext, config: Config, kind: 'service' | 'command'): Logger {
  const asked = context.env['HEDDLE_LOG_LEVEL'] !== undefined
  const level = kind === 'service' || (asked && !context.printer.json) ? config.logLevel : 'silent'
  return createLogger({ level, name: 'heddle' })
}
