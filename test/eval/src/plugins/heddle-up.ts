import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { closeLater } from '@heddle/test-support/closing'

const EXECUTABLE = fileURLToPath(new URL('../../../../packages/cli/bin/heddle.js', import.meta.url))
/** A process that does not end by itself is killed after this. */
const STOP_MS = 20_000

export interface StartedHeddle {
  readonly url: string
  /** Ends the process; nobody answers at its address afterwards. */
  stop(): Promise<void>
}

/** `heddle up` as users run it, on a store of its own. `closeAll` stops it and removes the store. */
export async function startHeddle(): Promise<StartedHeddle> {
  const dataDir = await mkdtemp(join(tmpdir(), 'heddle-eval-'))
  // Started by root, Postgres runs as another user, which must be able to pass through this folder.
  await chmod(dataDir, 0o711)
  closeLater(() => rm(dataDir, { recursive: true, force: true }))
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], HEDDLE_LOG_LEVEL: 'error' }
  const child = spawn(process.execPath, [EXECUTABLE, 'up', '--data', join(dataDir, 'data'), '--port', '0', '--json'], {
    cwd: dataDir,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    await exited
    clearTimeout(timer)
  }
  closeLater(stop)
  const ended = exited.then(() => {
    throw new Error(`heddle up ended with ${child.exitCode ?? child.signalCode}`)
  })
  const [text] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])) as [string]
  ended.catch(() => {})
  const { url } = JSON.parse(text) as { url: string }
  return { url, stop }
}
