import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const EXECUTABLE = fileURLToPath(new URL('../../../packages/cli/bin/heddle.js', import.meta.url))

/** `heddle up` with its data in a folder, as a user starts it. */
export async function startGateway(folder: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  // Started by root, Postgres runs as another user, which must be able to pass through the folder.
  await chmod(folder, 0o711)
  const env = { PATH: process.env['PATH'], HOME: folder, TMPDIR: tmpdirOf(), HEDDLE_EMBEDDER: 'hashing' }
  const started = spawn(process.execPath, [EXECUTABLE, 'up', '--data', 'data', '--port', '0', '--json'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(started, 'exit')
  const [line] = (await Promise.race([once(createInterface(started.stdout), 'line'), ended])) as [string]
  if (typeof line !== 'string') throw new Error('heddle up ended before it was ready')
  const { url } = JSON.parse(line) as { readonly url: string }
  return {
    url,
    async stop() {
      started.kill('SIGTERM')
      await ended
    },
  }
}

const tmpdirOf = () => process.env['TMPDIR'] ?? '/tmp'
