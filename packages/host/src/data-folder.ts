import { findUp } from '@heddle/client/connect'
import { PermanentError } from '@heddle/contracts'
import { holdsCluster } from '@heddle/embedded'

/**
 * Refuses a folder without data, for a command that creates none. A folder in which `heddle up` is starting is accepted.
 *
 * @throws PermanentError `NOT_FOUND` of the field `data`
 */
export async function assertData(dataDir: string): Promise<void> {
  if ((await holdsCluster(dataDir)) || (await findUp(dataDir)) !== null) return
  throw new PermanentError('NOT_FOUND', `there is no data in ${dataDir}, and this command creates none`, {
    field: 'data',
    received: dataDir,
    hint: 'Run it in the folder of your data, or name the folder with --data (or HEDDLE_DATA). To create data here: "heddle up", or "heddle import FILE --agent NAME".',
  })
}
