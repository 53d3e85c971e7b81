import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { afterEachFile } from '@heddle/test-support'

/** A line of its log. */
export interface LogLine {
  readonly msg: string
  readonly port?: number
  readonly healthPort?: number
}

/** A process of a deployment, which logs JSON lines. */
export interface ServiceProcess {
  /**
   * The first line of its log with this message, also one that came before the call.
   *
   * @throws Error with its output if it ends without one
   */
  logged(message: string): Promise<LogLine>
  /** Its complete output so far. */
  written(): string
  kill(signal: NodeJS.Signals): void
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

const running = new Set<ChildProcess>()

/** Starts a built program with only the given environment. */
export function startService(
  script: string,
  environment: Readonly<Record<string, string>>,
  { argv = [], cwd }: { argv?: readonly string[]; cwd?: string } = {},
): ServiceProcess {
  if (!existsSync(script)) throw new Error(`${script} is missing: npm run build`)
  const child = spawn(process.execPath, [script, ...argv], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let written = ''
  const lines: LogLine[] = []
  const listeners = new Set<() => void>()
  const notify = () => {
    for (const listener of listeners) listener()
  }
  child.stdout.on('data', (part) => {
    written += String(part)
  })
  createInterface({ input: child.stderr }).on('line', (line) => {
    written += `${line}\n`
    if (line.startsWith('{')) lines.push(JSON.parse(line) as LogLine)
    notify()
  })
  let hasEnded = false
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(child)
      hasEnded = true
      resolve({ code, signal })
      notify()
    })
  })
  return {
    ended,
    written: () => written,
    kill: (signal) => void child.kill(signal),
    logged: (message) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = lines.find(({ msg }) => msg === message)
          if (found === undefined && !hasEnded) return
          listeners.delete(look)
          if (found !== undefined) resolve(found)
          else reject(new Error(`${script} ended without logging "${message}":\n${written}`))
        }
        listeners.add(look)
        look()
      }),
  }
}

afterEachFile(async () => {
  const ended = [...running].map((child) => new Promise<void>((resolve) => child.once('close', () => resolve())))
  for (const child of running) child.kill('SIGKILL')
  await Promise.all(ended)
})
