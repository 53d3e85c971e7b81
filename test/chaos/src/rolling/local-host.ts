import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Program, type ProgramOptions } from '../cluster/program.js'
import type { ServiceHost } from '../cluster/service.js'

/** A folder for the programs of one service on this machine, which all share its loopback address. */
export class LocalHost implements ServiceHost {
  readonly label: string
  readonly address = '127.0.0.1'
  readonly folder: string
  readonly #programs: Program[] = []

  constructor(label: string, folder: string) {
    this.label = label
    this.folder = folder
  }

  async makeFolder(): Promise<void> {
    await mkdir(this.folder, { recursive: true })
  }

  /** The output of all programs with this name. */
  logOf(name: string): string {
    return join(this.folder, `${name}.log`)
  }

  start(name: string, options: Pick<ProgramOptions, 'command' | 'env'>): Program {
    const program = new Program({ ...options, namespace: null, folder: this.folder, logFile: this.logOf(name) })
    this.#programs.push(program)
    return program
  }

  async close(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.stop('SIGKILL')))
  }
}
