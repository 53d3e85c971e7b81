import { setMaxListeners } from 'node:events'
import { resolve } from 'node:path'
import type { Environment } from './options.js'
import { findUp } from './running-up.js'

/* The environment of a program on Node; `page.ts` replaces this file in builds for pages. */

export const environment: Environment = process.env
export const workingDirectory = (): string => process.cwd()

/** Aborts the calls of a client. Each call in progress listens to it, and Node reports more than ten listeners as a leak. */
export function openAbortController(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}

/** The data folder of the environment, found as the commands find it. */
export function dataFolderOf(env: Environment, cwd: string): string {
  return resolve(cwd, env['HEDDLE_DATA']?.trim() || '.heddle')
}

/** The URL of the `heddle up` that serves the folder, or null. */
export async function addressOfUp(dataDir: string): Promise<string | null> {
  const up = await findUp(dataDir)
  return up === null ? null : `http://127.0.0.1:${up.port}`
}
