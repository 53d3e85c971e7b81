import { type PlannedThread, planImport } from '@heddle/cli'
import { sessionFiles } from '@heddle/test-support/samples/recorded-sessions'

export const PROJECT = 'eval'

/** The sessions as an import would send them. */
export function readSessions(dataDir: string): Promise<PlannedThread[]> {
  return planImport(sessionFiles(dataDir), { cwd: '/', project: PROJECT, format: 'auto' })
}
