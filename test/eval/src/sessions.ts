import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type PlannedThread, planImport } from '@heddle/cli'

/** Agents whose sessions are judged on views and edits of files: the folder of each, and the ending of its files. */
const agents = [
  { folder: 'claude-code', ending: '.jsonl' },
  { folder: 'swe-agent', ending: '.traj' },
] as const

export const PROJECT = 'eval'

export function sessionFiles(dataDir: string): string[] {
  return agents.flatMap(({ folder, ending }) =>
    readdirSync(join(dataDir, folder))
      .filter((name) => name.endsWith(ending))
      .sort()
      .map((name) => join(dataDir, folder, name)),
  )
}

/** The sessions as an import would send them. */
export function readSessions(dataDir: string): Promise<PlannedThread[]> {
  return planImport(sessionFiles(dataDir), { cwd: '/', project: PROJECT, format: 'auto' })
}
