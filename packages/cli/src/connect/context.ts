import { type Config, type ConfigFlags, createLogger, type Logger, loadConfig } from '@heddle/runtime'
import type { ExitCode } from '../output/failure.js'
import type { Printer } from '../output/printer.js'

/** Options of every command that opens a store. */
export interface CommonOptions {
  readonly json?: true
  readonly data?: string
  readonly project?: string
}

/** The environment of a command, besides its own arguments; commands access nothing else of the process. */
export interface CommandContext {
  readonly printer: Printer
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborted when the command is asked to stop; its reason is an `InterruptedError`. */
  readonly signal: AbortSignal
  /** Prompts the user at the terminal; null without a terminal. */
  ask(question: string): Promise<string | null>
  /** Redirects all other output of this process to the log of a service. */
  ownOutput(log: Logger): void
  /** Whether this command may create the data of an empty folder. */
  mayMakeData(): boolean
  /** For a command that completes but reports a problem, such as a failed check. */
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
 * The log of a command. Services log from `info` up. Other commands print their own reports and log only when a level is
 * set: log lines between their lines would be noise, and with `--json` stderr contains at most an error.
 */
export function loggerOf(context: CommandContext, config: Config, kind: 'service' | 'command'): Logger {
  const asked = context.env['HEDDLE_LOG_LEVEL'] !== undefined
  const level = kind === 'service' || (asked && !context.printer.json) ? config.logLevel : 'silent'
  return createLogger({ level, name: 'heddle' })
}
