import { HeddleError } from '@heddle/contracts'
import { loadConfiguredModules } from '@heddle/host/modules'
import { createLogger, type Logger, onShutdown, type ShutdownHost } from '@heddle/runtime'
import { type Command, CommanderError } from 'commander'
import type { CommandContext } from './connect/context.js'
import { mayMakeData } from './connect/data-makers.js'
import { exitCodeOf, exitCodes, fromCommander, InterruptedError } from './output/failure.js'
import { createPrinter, type Terminal } from './output/printer.js'
import { buildProgram } from './program.js'

export interface CliHost {
  readonly stdout: Terminal
  readonly stderr: Terminal
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Prompts the user at the terminal; absent without a terminal. */
  readonly ask?: (question: string, signal: AbortSignal) => Promise<string | null>
  /** Redirects all other output of this process to a log, for a command that runs as a service. */
  readonly ownOutput?: (log: Logger) => void
  /** The source of signals; without it commands cannot be interrupted. */
  readonly signals?: ShutdownHost
}

/**
 * A stopped command closes what it opened; the embedded server takes a few seconds at most. After this time the process exits
 * anyway.
 */
const CLOSE_TIMEOUT_MS = 20_000

/**
 * Runs one command line to its end, with everything it opened closed again.
 *
 * @param argv without the program's own name
 * @returns the exit code: 0, 1 after an error, 2 after a usage error, or that of a signal
 */
export async function runCli(argv: readonly string[], host: CliHost): Promise<number> {
  const printer = createPrinter({
    stdout: host.stdout,
    stderr: host.stderr,
    json: asksForJson(argv),
    env: host.env,
    isService: isService(argv),
  })
  const controller = new AbortController()
  let exitCode: number = exitCodes.success
  let running: Command | undefined
  const context: CommandContext = {
    printer,
    env: host.env,
    cwd: host.cwd,
    signal: controller.signal,
    ask: async (question) => (await host.ask?.(question, controller.signal)) ?? null,
    ownOutput: (log) => host.ownOutput?.(log),
    mayMakeData: () => running !== undefined && mayMakeData(running),
    setExitCode(code) {
      exitCode = code
    },
  }

  const finished = runCommand(argv, context, (command) => {
    running = command
  }).then((code) => {
    if (code !== exitCodes.success) exitCode = code
    return printer.flush()
  })
  const signals = host.signals
  const stopListening =
    signals === undefined
      ? () => undefined
      : onShutdown(
          (reason) => {
            controller.abort(new InterruptedError(reason))
            return finished
          },
          {
            timeoutMs: CLOSE_TIMEOUT_MS,
            log: createLogger({ level: 'silent', name: 'heddle' }),
            // After an orderly close, `main` exits with the code of the command.
            host: {
              on: signals.on.bind(signals),
              off: signals.off.bind(signals),
              exit: (code) => (code === 0 ? undefined : signals.exit(code)),
            },
          },
        )
  await finished
  stopListening()
  return exitCode
}

async function runCommand(
  argv: readonly string[],
  context: CommandContext,
  onRun: (command: Command) => void,
): Promise<number> {
  let running: Command | undefined
  try {
    const words = withoutJson(argv)
    if (!asksForHelp(words)) await loadConfiguredModules(context)
    const program = buildProgram(context).hook('preAction', (_, command) => {
      running = command
      onRun(command)
    })
    if (words.length === 0) program.outputHelp()
    else await program.parseAsync(words, { from: 'user' })
    return exitCodes.success
  } catch (thrown) {
    // Ctrl-C reaches every process of the terminal, so errors after it, such as of a starting server, are not reported.
    const error: unknown = context.signal.aborted ? context.signal.reason : thrown
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.success
    context.printer.failure(error instanceof CommanderError ? fromCommander(error) : error)
    return isFaultOfOption(error, running) ? exitCodes.usage : exitCodeOf(error)
  }
}

/** An invalid `--cursor` is found only by the query, but is a usage error like any other invalid option. */
function isFaultOfOption(error: unknown, command: Command | undefined): boolean {
  const isOfCursor = error instanceof HeddleError && error.code === 'VALIDATION_ERROR' && error.field === 'cursor'
  return isOfCursor && command?.getOptionValueSource('cursor') === 'cli'
}

/** Help works even with an invalid configuration. */
function asksForHelp(words: readonly string[]): boolean {
  return words.length === 0 || ['help', '--help', '-h', '--version'].some((word) => words.includes(word))
}

/** Commands that run until they are stopped, mostly under a supervisor that collects their output. */
const services: readonly (string | undefined)[] = ['up', 'worker', 'gateway']

function isService(argv: readonly string[]): boolean {
  return services.includes(argv.find((word) => !word.startsWith('-')))
}

/** `--json` is accepted anywhere, even before the command; it has been read by now. */
function withoutJson(argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  return argv.filter((word, index) => word !== '--json' || (end !== -1 && index > end))
}

/** Read before the command line is parsed, because usage errors are printed as JSON, too. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json')
}
