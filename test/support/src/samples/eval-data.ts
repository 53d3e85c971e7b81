import { existsSync } from 'node:fs'

/** The folder of real sessions, or null: it is no part of the repository, and tests that need it are left out without it. */
export function evalData(): string | null {
  const folder = process.env['HEDDLE_EVAL_DATA']
  return folder !== undefined && folder !== '' && existsSync(folder) ? folder : null
}
