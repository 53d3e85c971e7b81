import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Delays for other clients, in milliseconds. */
export interface Waits {
  /** The longest answer of `/healthz`. */
  readonly healthMs: number
  /** The longest answer of a server without work meanwhile. */
  readonly emptyMs: number
  /** The longest block of the event loop. */
  readonly loopMs: number
}

/** Requests the health of a server from a separate thread, and the block of its event loop from the process. */
export class Health {
  readonly #probe: Worker
  readonly #server: ChildProcess
  readonly #empty: ChildProcess

  private constructor(probe: Worker, server: ChildProcess, empty: ChildProcess) {
    this.#probe = probe
    this.#server = server
    this.#empty = empty
  }

  static async open(url: string, server: ChildProcess): Promise<Health> {
    const empty = fork(new URL('empty-server.mjs', import.meta.url), { execArgv: [] })
    const [emptyUrl] = await once(empty, 'message')
    const workerData = { urls: [url, String(emptyUrl)] }
    const probe = new Worker(new URL('health-probe.mjs', import.meta.url), { workerData, execArgv: [] })
    return new Health(probe, server, empty)
  }

  /** The longest delays since the last call. */
  async take(): Promise<Waits> {
    const probed = once(this.#probe, 'message')
    const blocked = once(this.#server, 'message')
    this.#probe.postMessage('worst')
    this.#server.send('worst')
    const [[[healthMs, emptyMs]], [loopMs]] = await Promise.all([probed, blocked])
    return { healthMs: Number(healthMs), emptyMs: Number(emptyMs), loopMs: Number(loopMs) }
  }

  async close(): Promise<void> {
    const ended = once(this.#probe, 'exit')
    this.#probe.postMessage(null)
    await ended
    const exited = once(this.#empty, 'exit')
    this.#empty.disconnect()
    await exited
  }
}
