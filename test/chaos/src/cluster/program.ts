import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'

export interface ProgramOptions {
  /** The network namespace; null for that of this process. */
  readonly namespace: string | null
  readonly command: readonly [string, ...string[]]
  /** The user of the system that runs it. Default: that of this process. */
  readonly user?: string
  readonly env?: Readonly<Record<string, string>>
  readonly folder: string
  /** Gets its output. */
  readonly logFile: string
}

/** A program, usually in a network namespace, which the kernel kills with this process. */
export class Program {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>

  constructor({ namespace, command, user, env, folder, logFile }: ProgramOptions) {
    const identity = user === undefined ? [] : [`--reuid=${user}`, `--regid=${user}`, '--init-groups']
    const inNamespace = namespace === null ? [] : ['ip', 'netns', 'exec', namespace]
    const words = [...inNamespace, 'setpriv', ...identity, '--pdeathsig=KILL', '--', ...command] as const
    const [executable = '', ...parameters] = words
    this.#child = spawn(executable, parameters, {
      cwd: folder,
      env: { PATH: process.env['PATH'], LANG: 'C.UTF-8', HOME: folder, ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const log = createWriteStream(logFile, { flags: 'a' })
    this.#child.stdout?.pipe(log, { end: false })
    this.#child.stderr?.pipe(log, { end: false })
    this.#exited = once(this.#child, 'exit').finally(() => log.end())
    // A program that cannot be started has no exit; its host is then never ready.
    this.#exited.catch(() => {})
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Calls back once it has ended. */
  onExit(callback: (code: number | null, signal: NodeJS.Signals | null) => void): void {
    this.#child.once('exit', callback)
  }

  /** Resolves once it has ended. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    if (!this.isRunning) return
    this.#child.kill(signal)
    await this.#exited
  }
}
