import { PermanentError } from '@heddle/contracts'
import { holdsCluster } from '@heddle/embedded'
import type { Command } from 'commander'
import { findUp } from '../host/presence/presence.js'

/**
 * The commands that may begin in a folder without data, because they are the first that somebody runs there. Every other one
 * looks at what is there, or changes it, and makes nothing: a folder with a new database in it would only hide that the command
 * was run in the wrong place.
 */
export const dataMakers: ReadonlySet<string> = new Set([
  'up',
  'demo',
  'mcp',
  'migrate',
  'import',
  'agents set',
  'threads set',
  'threads import',
  'iterations add',
  'items set',
  'items sync',
  'settings set',
  'keys create',
  'grants offer',
  'grants accept',
])

/** Whether a command may make the data of a folder that holds none. */
export function mayMakeData(command: Command): boolean {
  return dataMakers.has(pathOf(command))
}

/** `agents set`: the words of a command, without the program's own. */
function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim()
}

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
