import { waitFor } from '@heddle/test-support/wait-for'
import type { Host } from './host.js'
import type { Program } from './program.js'

export interface ServiceOptions {
  readonly host: Host
  /** The file of its program. */
  readonly script: string
  readonly env: Readonly<Record<string, string>>
  /** Ports of its `/readyz`: with two of them its successor starts before it ends. */
  readonly ports: readonly [number, ...number[]]
  /** The variable that gets the port. */
  readonly portVariable: string
  readonly say: (line: string) => void
}

/** A service that ended by itself is started again after this time. */
const RESTART_AFTER_MS = 500
const READY_MS_MAX = 60_000

/** A program of Heddle on a host of its own, restarted whenever it ends, as a supervisor does. */
export class Service {
  readonly #options: ServiceOptions
  #program: Program
  #port: number
  #crashes = 0
  /** The program that is being replaced. */
  #replaced: Program | undefined
  #isStopping = false

  constructor(options: ServiceOptions) {
    this.#options = options
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
    const attempt = async () => (await fetch(`http://${address}:${port}/readyz`)).ok
    await waitFor(attempt, { what: `${this.label} to be ready`, timeoutMs: READY_MS_MAX, everyMs: 100 })
  }

  /** Replaces it in order: its successor is ready first, or else has the port of the one that has ended. */
  async roll(): Promise<void> {
    const [before, { ports }] = [this.#program, this.#options]
    this.#replaced = before
    const next = ports.find((port) => port !== this.#port)
    if (next === undefined) await before.stop('SIGTERM')
    this.#port = next ?? this.#port
    this.#program = this.#start(this.#port)
    await this.whenReady()
    await before.stop('SIGTERM')
  }

  stop(): void {
    this.#isStopping = true
  }

  #start(port: number): Program {
    const { host, script, env, portVariable, say } = this.#options
    const command = [process.execPath, script] as const
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
