import { findUp } from '@heddle/client/connect'
import { RetryableError } from '@heddle/contracts'
import { type Config, type Logger, untilStopped } from '@heddle/runtime'
import type { HostContext } from '../context.js'

/** What a program of a service has: its environment, as it was read. */
export interface Surroundings {
  readonly context: HostContext
  readonly config: Config
  readonly log: Logger
}

/**
 * A service has no server of its own: without DATABASE_URL it joins a running `heddle up`.
 *
 * @throws RetryableError `SERVICE_UNAVAILABLE` where there is none
 */
export async function assertServers({ mode, dataDir }: Config): Promise<void> {
  if (mode !== 'embedded' || (await findUp(dataDir)) !== null) return
  throw new RetryableError('SERVICE_UNAVAILABLE', `no "heddle up" runs for ${dataDir}, and DATABASE_URL is not set`, {
    field: 'DATABASE_URL',
    hint: 'Set DATABASE_URL, or start "heddle up" there first.',
  })
}

/** Rejects when the program is asked to stop. */
export function untilAskedToStop({ signal }: HostContext): Promise<never> {
  return untilStopped(signal, new Promise<never>(() => undefined))
}
