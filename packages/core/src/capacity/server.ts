import type { Agenda } from './agenda.js'
import type { Machine } from './machine.js'
import { Places } from './places.js'

/** A database or a queue server: statements wait for a connection, then share the processors of its machine. */
export class Server {
  readonly #machine: Machine
  readonly connections: Places
  /** Processor time of all statements. */
  spentMs = 0

  constructor(agenda: Agenda, machine: Machine, connections: number) {
    this.#machine = machine
    this.connections = new Places(agenda, connections)
  }

  /** Forgets what was counted. */
  restart(): void {
    this.spentMs = 0
    this.connections.held.restart()
  }

  execute(ms: number, done: () => void): void {
    this.connections.hold(() =>
      this.#machine.run(ms, () => {
        this.spentMs += ms
        this.connections.release()
        done()
      }),
    )
  }
}
