import { existsSync } from 'node:fs'

/** The folder of real sessions, or null: it is not in the repository, and tests that need it are skipped without it. */
export function evalData(): string | null {
  const folder = process.env['HEDDLE_EVAL_DATA']
  return folder !== undefined && folder !== '' && existsSync(folder) ? folder : null
}
