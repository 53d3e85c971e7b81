import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface CommandOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly timeoutMs?: number
}

const TIMEOUT_MS_DEFAULT = 180_000
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

/**
 * Runs a command to its end.
 *
 * @throws Error with its complete output if it fails
 */
export async function command(
  [name = '', ...parameters]: readonly string[],
  { cwd, env, timeoutMs = TIMEOUT_MS_DEFAULT }: CommandOptions,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  try {
    const running = run(name, parameters, { cwd, env, timeout: timeoutMs, maxBuffer: OUTPUT_BYTES_MAX })
    // Some commands wait for the end of their input.
    running.child.stdin?.end()
    return await running
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string }
    throw new Error(`${[name, ...parameters].join(' ')} failed in ${cwd}:\n${stdout}\n${stderr}`, { cause })
  }
}
