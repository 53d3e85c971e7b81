import type { Command } from 'commander'

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
