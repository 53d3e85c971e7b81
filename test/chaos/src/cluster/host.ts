import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { waitFor } from '@heddle/test-support/wait-for'
import { Program, type ProgramOptions } from './program.js'

const run = promisify(execFile)

export interface HostOptions {
  /** For reports. */
  readonly label: string
  readonly namespace: string
  readonly address: string
  /** Of its files, which outlive a crash. */
  readonly folder: string
}

const ENDING_MS_MAX = 10_000

/** A machine of the cluster: programs in a network namespace. */
export class Host implements HostOptions {
  readonly label: string
  readonly namespace: string
  readonly address: string
  readonly folder: string

  constructor({ label, namespace, address, folder }: HostOptions) {
    this.label = label
    this.namespace = namespace
    this.address = address
    this.folder = folder
  }

  /** @param user of the system, to whom the folder then belongs */
  async makeFolder(user?: string): Promise<void> {
    await mkdir(this.folder, { recursive: true })
    if (user !== undefined) await run('chown', [user, this.folder])
  }

  /** @param name of its log file */
  start(name: string, options: Pick<ProgramOptions, 'command' | 'user' | 'env'>): Program {
    const { namespace, folder } = this
    return new Program({ ...options, namespace, folder, logFile: join(folder, `${name}.log`) })
  }

  /** Kills every process of the host, those that its programs have started included, as a power cut would. */
  async crash(): Promise<void> {
    const attempt = async () => {
      const pids = await this.#pids()
      for (const pid of pids) kill(pid)
      return pids.length === 0
    }
    await waitFor(attempt, { what: `the processes of ${this.label} to end`, timeoutMs: ENDING_MS_MAX })
  }

  /** Runs a command of the system in the network of the host. */
  async inNetwork(command: string, ...parameters: string[]): Promise<void> {
    await run('ip', ['netns', 'exec', this.namespace, command, ...parameters])
  }

  /** Unplugs the host: nothing that it sends arrives, nothing reaches it, and nobody is notified. */
  async unplug(): Promise<void> {
    await run('ip', ['link', 'set', this.namespace, 'down'])
  }

  async plugIn(): Promise<void> {
    await run('ip', ['link', 'set', this.namespace, 'up'])
  }

  async #pids(): Promise<number[]> {
    const { stdout } = await run('ip', ['netns', 'pids', this.namespace])
    return stdout.split('\n').filter(Boolean).map(Number)
  }
}

/** A process that has ended meanwhile is no failure. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
