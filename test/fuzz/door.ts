import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const EXECUTABLE = fileURLToPath(new URL('../../packages/cli/bin/heddle.js', import.meta.url))

const COLLECT = 'SIGUSR2'
/** Code that runs in it before its own. */
const COLLECTOR = `data:text/javascript,process.on("${COLLECT}",()=>globalThis.gc())`

/** `heddle up` with its own data, started as users do. */
export interface Door {
  readonly url: string
  /** Makes it collect garbage, so that its heap shows only retained data. */
  collect(): void
  /** Its exit; null while it runs. */
  readonly ended: { readonly code: number | null; readonly signal: string | null } | null
  /** The process, for messages to modules that were preloaded into it. */
  readonly process: ChildProcess
  /** Its data folder. */
  readonly data: string
  close(): Promise<void>
}

export interface DoorOptions {
  /** Modules preloaded into it. */
  readonly modules?: readonly URL[]
  /** Folder for the CPU profiles of its threads, written at its end. */
  readonly profilesFolder?: string | null
}

export async function openDoor({ modules = [], profilesFolder = null }: DoorOptions = {}): Promise<Door> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-fuzz-'))
  // Started by root, Postgres runs as another user, which must be able to pass through this folder.
  await chmod(folder, 0o711)
  const env = { PATH: process.env['PATH'], HOME: folder, HEDDLE_EMBEDDER: 'hashing', HEDDLE_LOG_LEVEL: 'warn' }
  const data = join(folder, 'data')
  const argv = [
    '--expose-gc',
    ...(profilesFolder === null ? [] : ['--cpu-prof', '--cpu-prof-dir', profilesFolder]),
    '--import',
    COLLECTOR,
    ...modules.flatMap(({ href }) => ['--import', href]),
    EXECUTABLE,
    'up',
    '--data',
    data,
    '--port',
    '0',
    '--json',
  ]
  const child = spawn(process.execPath, argv, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  const close = async () => {
    await stop(child)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const { url } = JSON.parse(await firstLine(child)) as { url: string }
    return {
      url,
      collect: () => void child.kill(COLLECT),
      get ended() {
        const { exitCode: code, signalCode: signal } = child
        return code === null && signal === null ? null : { code, signal }
      },
      process: child,
      data,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new TypeError('its output is not read')
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error('heddle up ended before it was ready')
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
