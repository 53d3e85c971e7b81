import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Delays for other clients, in milliseconds: the longest answer of `/healthz`, and the longest block of the event loop. */
export interface Waits {
  readonly healthMs: number
  readonly loopMs: number
}

/** Requests the health of a server from a separate thread, and the block of its event loop from the process. */
export class Health {
  readonly #probe: Worker
  readonly #server: ChildProcess

  constructor(url: string, server: ChildProcess) {
    this.#probe = new Worker(new URL('health-probe.mjs', import.meta.url), { workerData: { url }, execArgv: [] })
    this.#server = server
  }

  /** The longest delays since the last call. */
  async take(): Promise<Waits> {
    const [healthMs, loopMs] = await Promise.all([this.#ask(this.#probe), this.#ask(this.#server)])
    return { healthMs, loopMs }
  }

  async close(): Promise<void> {
    const ended = once(this.#probe, 'exit')
    this.#probe.postMessage(null)
    await ended
  }

  async #ask(whom: Worker | ChildProcess): Promise<number> {
    const answer = once(whom, 'message')
    if (whom instanceof Worker) whom.postMessage('worst')
    else whom.send('worst')
    return Number((await answer)[0])
  }
}
