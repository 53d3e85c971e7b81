import type { Command } from 'commander'

/**
 * The commands that may create data in an empty folder, because users run them there first. All others read or change existing
 * data and create none: a new database would only hide that the command was run in the wrong folder.
 */
export const dataMakers: ReadonlySet<string> = new Set([
  'up',
  'demo',
  'mcp',
  'migrate',
  'restore',
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

/** Whether a command may create the data of an empty folder. */
export function mayMakeData(command: Command): boolean {
  return dataMakers.has(pathOf(command))
}

/** `agents set`: the words of a command, without the program's own. */
function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim()
}
