import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEachFile } from './after-file.js'

/** A Node process that a test has started. */
export interface SpawnedNode {
  readonly pid: number
  /** Its complete output so far. */
  stdout(): string
  stderr(): string
  /**
   * The first line of its output that the expression matches, as the match; also one from before the call.
   *
   * @throws Error when it ends without such a line, or after `timeoutMs` (default 30,000)
   */
  line(expression: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>
  /** Writes a line to its input. */
  tell(line: string): void
  kill(signal: NodeJS.Signals): void
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

export interface SpawnNodeOptions {
  parameters?: readonly string[]
  env?: Readonly<Record<string, string | undefined>>
  cwd?: string
  /** More of Node's own options, such as `--max-old-space-size=256`. */
  nodeOptions?: readonly string[]
  /** Another Node, for a compiled program. Default: this one, with the sources of the workspace packages. */
  node?: string
}

const LINE_TIMEOUT_MS = 30_000
const running = new Set<ChildProcess>()

/**
 * Starts a Node process with the sources of the workspace packages, like the tests themselves. It accepts scripts in
 * TypeScript. It is killed at the end of the test file at the latest.
 */
export function spawnNode(script: string | URL, options: SpawnNodeOptions = {}): SpawnedNode {
  const path = typeof script === 'string' ? script : fileURLToPath(script)
  const sources = ['--conditions=heddle:source', `--import=${import.meta.resolve('tsx')}`]
  const loader = options.node === undefined ? sources : []
  const child = spawn(
    options.node ?? process.execPath,
    [...loader, ...(options.nodeOptions ?? []), path, ...(options.parameters ?? [])],
    {
      env: { ...process.env, NODE_OPTIONS: undefined, ...options.env },
      cwd: options.cwd,
      stdio: 'pipe',
    },
  )
  const { pid } = child
  if (pid === undefined) throw new Error(`${path} could not be started`)
  running.add(child)
  let [output, errors] = ['', '']
  child.stdout.on('data', (chunk) => {
    output += String(chunk)
  })
  child.stderr.on('data', (chunk) => {
    errors += String(chunk)
  })
  child.stdin.on('error', () => {})
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    // `close` comes after the last output, unlike `exit`.
    child.once('close', (code, signal) => {
      running.delete(child)
      resolve({ code, signal })
    })
  })
  return {
    pid,
    stdout: () => output,
    stderr: () => errors,
    exited,
    tell: (line) => void child.stdin.write(`${line}\n`),
    kill: (signal) => void child.kill(signal),
    line: (expression, timeoutMs = LINE_TIMEOUT_MS) => findLine(child, () => [output, errors], expression, timeoutMs),
  }
}

function findLine(
  child: ChildProcess,
  read: () => [output: string, errors: string],
  expression: RegExp,
  timeoutMs: number,
): Promise<RegExpMatchArray> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      clearTimeout(timer)
      child.stdout?.off('data', look)
      child.off('close', ended)
      finish()
    }
    const fail = (why: string) => settle(() => reject(new Error(`No line ${expression} ${why}:\n${read().join('\n')}`)))
    const look = () => {
      // The last part is not a whole line yet.
      for (const line of read()[0].split('\n').slice(0, -1)) {
        const match = line.match(expression)
        if (match !== null) return settle(() => resolve(match))
      }
    }
    const ended = () => fail('before the process ended')
    const timer = setTimeout(() => fail(`within ${timeoutMs} ms`), timeoutMs)
    child.stdout?.on('data', look)
    child.once('close', ended)
    look()
    if (child.exitCode !== null || child.signalCode !== null) ended()
  })
}

/** Kills the running processes that this file has started, by their ids. */
async function killRunning(): Promise<void> {
  const ended = [...running].map((child) => new Promise<void>((resolve) => child.once('close', () => resolve())))
  for (const child of running) child.kill('SIGKILL')
  await Promise.all(ended)
}

afterEachFile(killRunning)
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
