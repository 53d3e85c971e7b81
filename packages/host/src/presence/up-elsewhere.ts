import { findUp, type RunningUp } from '@heddle/client/connect'
import { RetryableError } from '@heddle/contracts'
import { systemClock } from '@heddle/runtime'
import type { HostContext } from '../context.js'
import { isReady } from './presence.js'

const POLL_EVERY_MS = 100
/** Enough for a first start, which creates a cluster and its tables, on a slow machine. */
const START_MS_MAX = 20_000

/** How long to wait for the announcement of another `heddle up` if its port is in use: any program may use the port. */
export const PORT_GRACE_MS = 1_000
/** The same if its folder is in use: another `heddle up` certainly runs, but may start slowly. */
export const FOLDER_GRACE_MS = 10_000

/**
 * The `heddle up` that serves a data folder, once it is ready; null if there is none, or if it ended during its start.
 *
 * @param graceMs how long to wait for the announcement of one that is starting
 * @throws RetryableError `TIMEOUT` if it has been starting for 20 s
 */
export async function untilUp(context: HostContext, dataDir: string, graceMs = 0): Promise<RunningUp | null> {
  for (let waitedMs = 0; ; waitedMs += POLL_EVERY_MS) {
    const up = await findUp(dataDir)
    if (up === null && waitedMs >= graceMs) return null
    if (up !== null && (await isReady(up))) return up
    if (up !== null && waitedMs === 0)
      context.printer.note(`process ${up.pid} is starting there already; waiting for it ...`)
    if (up !== null && waitedMs >= START_MS_MAX) {
      throw new RetryableError('TIMEOUT', `process ${up.pid} has been starting for ${START_MS_MAX / 1_000} s`, {
        field: 'data',
        received: dataDir,
        hint: 'Read its output, or stop it and run this again.',
      })
    }
    await systemClock.wait(POLL_EVERY_MS, context.signal)
  }
}
