import { runCli } from './run.js'

/** What the `heddle` executable does: runs the command line of this process and ends it with its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  const code = await runCli(argv, {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    signals: process,
  })
  // Everything is closed and flushed: what may still be open, such as a socket that is being let go, need not be awaited.
  process.exit(code)
}
