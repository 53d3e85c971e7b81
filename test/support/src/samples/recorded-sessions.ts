import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Agents whose sessions view and edit files: the folder of each, and the ending of its files. */
const agents = [
  { folder: 'claude-code', ending: '.jsonl' },
  { folder: 'swe-agent', ending: '.traj' },
] as const

/** The files of recorded coding sessions in a folder of real data. */
export function sessionFiles(dataDir: string): string[] {
  return agents.flatMap(({ folder, ending }) =>
    readdirSync(join(dataDir, folder))
      .filter((name) => name.endsWith(ending))
      .sort()
      .map((name) => join(dataDir, folder, name)),
  )
}
