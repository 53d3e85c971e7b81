import { expect, onTestFinished } from 'vitest'
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

/**
 * A gateway that can be stopped, with the options of an adapter that notices it. While it is stopped it counts the connections
 * that are tried. One is bounded in time (`availability.test.ts` of the client), so calls that make one at most are, too, however
 * busy the machine of the test is; `npm run eval -- --only adapters.away` measures the time.
 */
export async function startOutages(target: () => string) {
  const relay = await startRelay(target)
  onTestFinished(relay.stop)
  const aways: unknown[] = []
  let nowMs = 0
  let counted = 0
  return {
    options: { url: relay.url, now: () => nowMs, onAway: (error: unknown) => void aways.push(error) },
    /** The errors that the adapter reported. */
    aways,
    stop() {
      counted = 0
      relay.drop()
    },
    start: relay.serve,
    hold: relay.hold,
    /** Connections that were tried since it was stopped, or since this was read last; one that was open before is not counted. */
    attempts(): number {
      const before = counted
      counted = relay.dropped ?? 0
      return counted - before
    },
    /** The next call of the adapter tries again. */
    pass() {
      nowMs += PAUSE_MS
    },
  }
}

/**
 * Four turns, of which the second and the third find no Heddle: each turn tries it once at most, and the adapter reports it
 * once. After the last one, what was said meanwhile must be stored.
 */
export async function takeTurnsInOutage(
  outages: Awaited<ReturnType<typeof startOutages>>,
  turn: (content: string) => Promise<unknown>,
): Promise<void> {
  await turn('One')
  outages.stop()
  await turn('Two')
  expect(outages.attempts()).toBeLessThanOrEqual(1)
  outages.pass()
  await turn('Three')
  expect(outages.attempts()).toBeLessThanOrEqual(1)
  expect(outages.aways).toMatchObject([{ code: 'SERVICE_UNAVAILABLE' }])
  outages.start()
  outages.pass()
  await turn('Four')
}
