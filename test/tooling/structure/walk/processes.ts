import { type ChildProcess, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'

/** The first call of a function during a record. */
export interface Call {
  /** The built file in the checkout: `packages/core/dist/a.js`. */
  readonly place: string
  readonly name: string
  readonly atMs: number
}

/** A process with probes in every function of the checkout's code. */
export interface ProbedProcess {
  readonly name: string
  /** The first line of its log with this message. @throws Error with its output if it ends without one */
  logged(message: string): Promise<Readonly<Record<string, unknown>>>
  /** The next message that it sends with this property. */
  received(property: string): Promise<Readonly<Record<string, unknown>>>
  send(message: string): void
  /** The calls since `begin` was sent. */
  end(): Promise<readonly Call[]>
  stop(): Promise<void>
}

export interface ProbedProgram {
  readonly name: string
  readonly root: string
  readonly script: string
  readonly parameters?: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

const PROBE = new URL('./probe.mjs', import.meta.url)

export function startProbed({ name, root, script, parameters = [], environment }: ProbedProgram): ProbedProcess {
  const child = spawn(process.execPath, [`--import=${PROBE.href}`, script, ...parameters], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], HEDDLE_WALK_ROOT: root, ...environment },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const lines: Record<string, unknown>[] = []
  let written = ''
  if (child.stderr === null) throw new Error(`${name} has no output`)
  createInterface({ input: child.stderr }).on('line', (line) => {
    written += `${line}\n`
    if (line.startsWith('{')) lines.push(JSON.parse(line))
    child.emit('logged')
  })
  const failure = () => new Error(`${name} ended early:\n${written}`)
  const receive = (property: string) => nextMessage(child, property, failure)
  return {
    name,
    received: receive,
    send: (message) => void child.send(message),
    logged: (message) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const line = lines.find(({ msg }) => msg === message)
          if (line !== undefined) resolve(line)
        }
        child.on('logged', check)
        child.once('close', () => reject(failure()))
        check()
      }),
    async end() {
      const answer = receive('calls')
      child.send('end')
      const { calls } = await answer
      return calls as readonly Call[]
    },
    async stop() {
      if (child.exitCode !== null) return
      const closed = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGTERM')
      await closed
    },
  }
}

function nextMessage(
  child: ChildProcess,
  property: string,
  failure: () => Error,
): Promise<Readonly<Record<string, unknown>>> {
  return new Promise((resolve, reject) => {
    const listen = (message: unknown) => {
      if (typeof message !== 'object' || message === null || !(property in message)) return
      child.off('message', listen)
      resolve(message as Readonly<Record<string, unknown>>)
    }
    child.on('message', listen)
    child.once('close', () => reject(failure()))
  })
}
