import { waitFor } from '@heddle/test-support/wait-for'
import type { Program, ProgramOptions } from './program.js'

/** The part of a host that a service needs. */
export interface ServiceHost {
  /** For reports. */
  readonly label: string
  readonly address: string
  /** @param name of its log file */
  start(name: string, options: Pick<ProgramOptions, 'command' | 'env'>): Program
}

export interface ServiceOptions {
  readonly host: ServiceHost
  /** The file of its program. */
  readonly script: string
  readonly env: Readonly<Record<string, string>>
  /** Ports of its `/readyz`: with two of them its successor starts before it ends. */
  readonly ports: readonly [number, ...number[]]
  /** The variable that gets the port. */
  readonly portVariable: string
  readonly say: (line: string) => void
}

/** How a service is replaced. */
export interface Succession {
  /** The file of the successor's program. Default: that of the service. */
  readonly script?: string
  /** Awaited while both run, if they can run beside each other. */
  readonly together?: () => Promise<void>
}

/** A service that ended by itself is started again after this time. */
const RESTART_AFTER_MS = 500
const READY_MS_MAX = 300_000

/** A program of Heddle on a host of its own, restarted whenever it ends, as a supervisor does. */
export class Service {
  readonly #options: ServiceOptions
  #program: Program
  #script: string
  #port: number
  #crashes = 0
  /** The program that is being replaced. */
  #replaced: Program | undefined
  #isStopping = false

  constructor(options: ServiceOptions) {
    this.#options = options
    this.#script = options.script
    this.#port = options.ports[0]
    this.#program = this.#start(this.#port)
  }

  get label(): string {
    return this.#options.host.label
  }

  /** How often it ended by itself. */
  get crashes(): number {
    return this.#crashes
  }

  /** Resolves once `/readyz` does. */
  async whenReady(port = this.#port): Promise<void> {
    const { address } = this.#options.host
    let last = 'no answer'
    const attempt = async () => {
      const response = await fetch(`http://${address}:${port}/readyz`)
      last = await response.text()
      return response.ok
    }
    await waitFor(attempt, { what: `${this.label} to be ready`, timeoutMs: READY_MS_MAX, everyMs: 100 }).catch(
      (error: Error) => {
        throw new Error(`${error.message}; its last answer: ${last}`)
      },
    )
  }

  /** Replaces it in order: its successor is ready first, or else has the port of the one that has ended. */
  async roll({ script = this.#script, together = async () => {} }: Succession = {}): Promise<void> {
    const [before, { ports }] = [this.#program, this.#options]
    const next = ports.find((port) => port !== this.#port)
    if (next === undefined) await this.#end(before)
    this.#script = script
    this.#port = next ?? this.#port
    this.#program = this.#start(this.#port)
    await this.whenReady()
    if (next === undefined) return
    await together()
    await this.#end(before)
  }

  stop(): void {
    this.#isStopping = true
  }

  async #end(program: Program): Promise<void> {
    this.#replaced = program
    await program.stop('SIGTERM')
  }

  #start(port: number): Program {
    const { host, env, portVariable, say } = this.#options
    const command = [process.execPath, this.#script] as const
    const program = host.start('service', { command, env: { ...env, [portVariable]: String(port) } })
    program.onExit((code, signal) => {
      if (this.#isStopping || program === this.#replaced) return
      this.#crashes++
      say(`${host.label} ended by itself, with ${signal ?? code}`)
      setTimeout(() => this.#restart(program), RESTART_AFTER_MS)
    })
    return program
  }

  #restart(ended: Program): void {
    if (!this.#isStopping && this.#program === ended) this.#program = this.#start(this.#port)
  }
}
