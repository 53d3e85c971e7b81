import { findUp } from '@heddle/client/connect'
import { PermanentError } from '@heddle/contracts'
import { holdsCluster } from '@heddle/embedded'

/**
 * Refuses a folder in which nothing is, for a command that would have to make it first. One in which a `heddle up` begins is
 * about to hold something.
 *
 * @throws PermanentError `NOT_FOUND` of the field `data`
 */
export async function assertData(dataDir: string): Promise<void> {
  if ((await holdsCluster(dataDir)) || (await findUp(dataDir)) !== null) return
  throw new PermanentError('NOT_FOUND', `there is no data in ${dataDir}, and this command makes none`, {
    field: 'data',
    received: dataDir,
    hint: 'Run it where your data is, or name the folder with --data (or HEDDLE_DATA). To begin here: "heddle up", or "heddle import FILE --agent NAME".',
  })
}
