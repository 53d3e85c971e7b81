import { type Served, servePipeline } from '../doors/http-support.js'
import type { Pipeline } from '../support.js'
import { startRelay } from './relay.js'

/** A pipeline with a gateway for all tests of a file, as the adapters of frameworks use it. */
export function serveAdapter() {
  let pipeline: Pipeline
  let http: Served
  servePipeline((opened) => {
    ;({ pipeline, http } = opened)
  })
  return {
    get url() {
      return http.url
    },
    get client() {
      return pipeline.client
    },
    /** All messages of a thread, the oldest first. */
    async entriesOf(thread: string) {
      const { items } = await pipeline.client.messages.list({ thread, limit: 500, order: 'asc' })
      return items
    },
  }
}

/** More than an adapter leaves between two attempts to reach a Heddle that is away. */
const PAUSE_MS = 6_000

/** A gateway that can be stopped, with the options of an adapter that notices it. */
export async function startOutages(target: () => string) {
  const relay = await startRelay(target)
  const aways: unknown[] = []
  let nowMs = 0
  return {
    options: { url: relay.url, now: () => nowMs, onAway: (error: unknown) => void aways.push(error) },
    /** The errors that the adapter reported. */
    aways,
    stop: relay.stop,
    start: relay.start,
    hold: relay.hold,
    /** The next call of the adapter tries again. */
    pass() {
      nowMs += PAUSE_MS
    },
  }
}

/** Measures how long each piece of work takes, in milliseconds. */
export function stopwatch() {
  const timesMs: number[] = []
  const timed = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const startedMs = performance.now()
    const result = await work()
    timesMs.push(performance.now() - startedMs)
    return result
  }
  return { timesMs, timed }
}
