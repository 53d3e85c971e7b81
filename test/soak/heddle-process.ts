import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface HeddleProcess {
  /**
   * The report of the process once it is ready.
   *
   * @throws Error if it ends before
   */
  ready(): Promise<Readonly<Record<string, unknown>>>
  stop(): Promise<void>
}

const EXECUTABLE = fileURLToPath(new URL('../../packages/cli/bin/heddle.js', import.meta.url))
const STOP_MS_MAX = 20_000

export interface StartOptions {
  /** Of another version. Default: that of this checkout. */
  readonly executable?: string
  readonly cwd?: string
}

/** Starts the built command, as users do. */
export function startHeddle(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  { executable = EXECUTABLE, cwd }: StartOptions = {},
): HeddleProcess {
  const child: ChildProcess = spawn(process.execPath, [executable, ...argv], {
    env: { ...process.env, ...environment },
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const firstLine = child.stdout === null ? null : once(createInterface({ input: child.stdout }), 'line')
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return {
    async ready() {
      const ended = exited.then(() => {
        throw new Error(`heddle ${argv.join(' ')} ended with ${child.exitCode ?? child.signalCode}`)
      })
      const [line] = (await Promise.race([firstLine, ended])) as [string]
      return JSON.parse(line) as Record<string, unknown>
    },
    async stop() {
      if (hasEnded()) return
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
      await exited
      clearTimeout(timer)
    },
  }
}
