import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type HeddleProcess, startHeddle } from '../soak/heddle-process.js'

/** The folder and the variables of a user, for commands of any version. */
export interface Place {
  readonly dir: string
  readonly environment: Readonly<Record<string, string>>
}

/** One built version of Heddle. */
export interface Checkout {
  readonly version: string
  /** @throws Error with the output of the command if it does not exit with 0 */
  run(place: Place, ...argv: string[]): Promise<Readonly<Record<string, unknown>>>
  /** Everything in one process, on a port of its own. */
  up(place: Place): Promise<{ readonly url: string; stop(): Promise<void> }>
}

/** Limit of a command's output: exported threads are whole sessions. */
const OUTPUT_BYTES_MAX = 512 * 1024 * 1024

export function openCheckout(version: string, folder: string): Checkout {
  const executable = join(folder, 'packages/cli/bin/heddle.js')
  const built = join(folder, 'packages/cli/dist/main.js')
  if (!existsSync(built)) throw new Error(`${built} is missing: run "npm ci" and "npm run build" in ${folder}`)
  return {
    version,
    async run({ dir, environment }, ...argv) {
      const { stdout } = await promisify(execFile)(process.execPath, [executable, ...argv, '--json'], {
        cwd: dir,
        env: environmentOf(environment),
        maxBuffer: OUTPUT_BYTES_MAX,
      })
      return JSON.parse(stdout) as Record<string, unknown>
    },
    async up({ dir, environment }) {
      const started: HeddleProcess = startHeddle(['up', '--port', '0', '--json'], environmentOf(environment), {
        executable,
        cwd: dir,
      })
      const { port } = await started.ready()
      return { url: `http://127.0.0.1:${port}`, stop: started.stop }
    },
  }
}

/** Only the variables of the caller that a process needs to start. */
function environmentOf(environment: Place['environment']): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', HEDDLE_LOG_LEVEL: 'warn', ...environment }
}
