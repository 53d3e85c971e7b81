/** Between two samples of the event loop, by the default of prom-client. */
const SAMPLED_EVERY_MS = 10

/** @returns the 99th percentile of the delay of the gateway's event loop since the last call, in milliseconds */
export async function loopDelayMs(url: string): Promise<number> {
  const answer = await fetch(new URL('/metrics', url))
  const [, seconds] = /^nodejs_eventloop_lag_p99_seconds ([\d.e-]+)$/m.exec(await answer.text()) ?? []
  if (seconds === undefined) throw new Error(`${url}/metrics has no delay of the event loop`)
  return Math.max(0, Number(seconds) * 1_000 - SAMPLED_EVERY_MS)
}
