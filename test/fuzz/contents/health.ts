import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** How long others had to wait, in milliseconds: for an answer of `/healthz`, and for the loop of the process. */
export interface Waits {
  readonly healthMs: number
  readonly loopMs: number
}

/** Asks a server for its health from a thread of its own, and the process how long its loop was held. */
export class Health {
  readonly #probe: Worker
  readonly #server: ChildProcess

  constructor(url: string, server: ChildProcess) {
    this.#probe = new Worker(new URL('health-probe.mjs', import.meta.url), { workerData: { url }, execArgv: [] })
    this.#server = server
  }

  /** The longest waits since the last time. */
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
