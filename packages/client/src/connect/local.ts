import { resolve } from 'node:path'
import type { Environment } from './options.js'
import { findUp } from './running-up.js'

/* What a program on Node has around it; `page.ts` stands for it where a page is built. */

export const environment: Environment = process.env
export const workingDirectory = (): string => process.cwd()

/** The data folder of the environment, as the commands know it. */
export function dataFolderOf(env: Environment, cwd: string): string {
  return resolve(cwd, env['HEDDLE_DATA']?.trim() || '.heddle')
}

/** The address of the `heddle up` that serves the folder; null where none does. */
export async function addressOfUp(dataDir: string): Promise<string | null> {
  const up = await findUp(dataDir)
  return up === null ? null : `http://127.0.0.1:${up.port}`
}
