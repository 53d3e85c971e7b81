import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { SERVER_AWAY_EXIT_CODE } from './place.js'
import type { WorkerOrder } from './worker-process.js'

const script = fileURLToPath(new URL('./worker-process.js', import.meta.url))

/** A worker that cannot start, because a server is down, is restarted after this delay. */
const RESTART_AFTER_MS = 250

interface Member {
  child: ChildProcess
  isReady: boolean
  /** The process that keeps it frozen. */
  pause: ChildProcess | null
}

/** Worker processes, each of which is restarted whenever it ends. */
export class Crew {
  readonly #order: WorkerOrder
  readonly #members: Member[]
  readonly #waiting = new Set<() => void>()
  #isStopping = false
  #crashes = 0

  constructor(order: WorkerOrder, size: number) {
    this.#order = order
    this.#members = Array.from({ length: size }, (_, index) => this.#start(index))
  }

  /** Workers that ended by themselves, except those that could not start because a server was down. */
  get crashes(): number {
    return this.#crashes
  }

  /** Workers that are ready and not frozen. */
  get up(): number {
    return this.#members.filter(isUp).length
  }

  /** Resolves once this many workers are up and not frozen. */
  async whenUp(count: number): Promise<void> {
    while (this.up < count) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  /**
   * Kills a worker, or the next one that is up, once all others are up or frozen: however slowly workers start, most of
   * them have time to work.
   */
  async kill(preferred: number): Promise<void> {
    await this.whenUp(this.#members.length - 1)
    this.#pick(preferred)?.child.kill('SIGKILL')
  }

  async killAll(): Promise<void> {
    await Promise.all(this.#members.map((member) => end(member)))
  }

  /**
   * Freezes a worker, or the next one that is up. Another process resumes it, also if this one was killed meanwhile.
   */
  async pause(preferred: number, forMs: number): Promise<void> {
    await this.whenUp(1)
    const member = this.#pick(preferred)
    if (member === undefined) return
    const steps = 'kill -STOP "$1"; sleep "$2"; kill -CONT "$1"'
    const parameters = [String(member.child.pid), String(forMs / 1_000)]
    const pause = spawn('/bin/sh', ['-c', steps, 'heddle-chaos-pause', ...parameters], {
      detached: true,
      stdio: 'ignore',
    })
    member.pause = pause
    pause.once('exit', () => {
      if (member.pause === pause) member.pause = null
      this.#look()
    })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.killAll()
  }

  #pick(preferred: number): Member | undefined {
    const from = [...this.#members.slice(preferred), ...this.#members.slice(0, preferred)]
    return from.find(isUp)
  }

  #start(index: number): Member {
    const child = fork(script, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const member: Member = { child, isReady: false, pause: null }
    child.on('error', () => {})
    child.once('message', () => {
      member.isReady = true
      this.#look()
    })
    child.once('exit', (code, signal) => {
      const isAway = !member.isReady && code === SERVER_AWAY_EXIT_CODE
      if (signal !== 'SIGKILL' && !isAway) this.#crashes++
      const isTooEarly = !member.isReady
      member.isReady = false
      setTimeout(() => this.#restart(index), isTooEarly ? RESTART_AFTER_MS : 0)
    })
    child.send(this.#order, () => {})
    return member
  }

  #restart(index: number): void {
    if (!this.#isStopping) this.#members[index] = this.#start(index)
  }

  #look(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}

function isUp({ child, isReady, pause }: Member): boolean {
  return isReady && pause === null && child.exitCode === null && child.signalCode === null && !child.killed
}

async function end({ child, pause }: Member): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  if (pause?.pid !== undefined && pause.exitCode === null && pause.signalCode === null) endGroup(pause.pid)
}

/** A shell and its child, which may just have ended by itself. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
