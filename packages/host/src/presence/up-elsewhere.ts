import { findUp, type RunningUp } from '@heddle/client/connect'
import { RetryableError } from '@heddle/contracts'
import { systemClock } from '@heddle/runtime'
import type { HostContext } from '../context.js'
import { isReady } from './presence.js'

const LOOK_EVERY_MS = 100
/** A first start makes a cluster and its tables, on a slow machine too. */
const START_MS_MAX = 20_000

/** Who has the port of another one finds its word within this time: it may be anybody's port. */
export const WORD_MS_MAX = 1_000
/** Who has its folder waits longer: the other one is there for sure, and may start slowly. */
export const FOLDER_WORD_MS_MAX = 10_000

/**
 * The `heddle up` that serves a data folder, once it is ready; null where there is none, or where it ended while it started.
 *
 * @param graceMs how long to wait for the word of one that is about to leave it
 * @throws RetryableError `TIMEOUT` where it has been starting for 20 s
 */
export async function untilUp(context: HostContext, dataDir: string, graceMs = 0): Promise<RunningUp | null> {
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const up = await findUp(dataDir)
    if (up === null && waitedMs >= graceMs) return null
    if (up !== null && (await isReady(up))) return up
    if (up !== null && waitedMs === 0)
      context.printer.note(`process ${up.pid} is starting there already; waiting for it ...`)
    if (up !== null && waitedMs >= START_MS_MAX) {
      throw new RetryableError('TIMEOUT', `process ${up.pid} has been starting for ${START_MS_MAX / 1_000} s`, {
        field: 'data',
        received: dataDir,
        hint: 'See what it says, or stop it and run this again.',
      })
    }
    await systemClock.wait(LOOK_EVERY_MS, context.signal)
  }
}
