import { createInterface } from 'node:readline/promises'
import { ownOutput } from '@heddle/runtime'
import { onNpxEnded } from './npx-parent.js'
import { runCli } from './run.js'

/** The `heddle` executable: runs the command line of this process and exits with its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  onNpxEnded(process, () => process.kill(process.pid, 'SIGTERM'))
  const code = await runCli(argv, {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    signals: process,
    ask,
    ownOutput,
  })
  // Everything is closed and flushed; remaining handles, such as a closing socket, need not be awaited.
  process.exit(code)
}

async function ask(question: string, signal: AbortSignal): Promise<string | null> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await terminal.question(question, { signal })
  } finally {
    terminal.close()
  }
}
