import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { waitFor } from '@heddle/test-support'
import { expect } from 'vitest'
import { openDatabaseHome } from '../cli/cli-support.js'

const HOLDS = fileURLToPath(new URL('loop-holds.mjs', import.meta.url))

/** A `heddle up` that reports the blocks of its event loop. */
export async function startHeldUp() {
  const home = await openDatabaseHome()
  const file = home.path('holds')
  const up = home
    .under({ NODE_OPTIONS: `--import=${HOLDS}`, LOOP_HOLDS_FILE: file })
    .start(['up', '--port', '0', '--json'])
  const { url } = JSON.parse(await up.firstLine) as { url: string }
  return {
    url,
    databaseUrl: home.databaseUrl,
    /** Resets the measurement. */
    async beginHolds() {
      await writeFile(file, 'begin')
      await waitFor(async () => (await readFile(file, 'utf8')) !== 'begin')
    },
    /** The longest block since the beginning, in milliseconds. */
    longestHoldMs: async () => Number(await readFile(file, 'utf8')),
    async stop() {
      up.kill('SIGTERM')
      expect((await up.ended).code).toBe(0)
    },
  }
}
