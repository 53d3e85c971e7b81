import { findUp } from '@heddle/client/connect'
import { RetryableError } from '@heddle/contracts'
import type { Config } from '@heddle/runtime'

/**
 * For a program that does not start the embedded server: without DATABASE_URL a `heddle up` must run on the same folder.
 *
 * @throws RetryableError `SERVICE_UNAVAILABLE` if there is none
 */
export async function requireServer({ mode, dataDir }: Pick<Config, 'mode' | 'dataDir'>): Promise<void> {
  if (mode !== 'embedded' || (await findUp(dataDir)) !== null) return
  throw new RetryableError('SERVICE_UNAVAILABLE', `no "heddle up" runs for ${dataDir}, and DATABASE_URL is not set`, {
    field: 'DATABASE_URL',
    hint: 'Start "heddle up" there first, name its folder with --data or HEDDLE_DATA, or set DATABASE_URL.',
  })
}
