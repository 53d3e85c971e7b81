import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Project } from './project.js'

export interface RunningHeddle extends AsyncDisposable {
  readonly url: string
}

/** Starts `npx heddle up` on a free port, and waits until it prints its address. */
export async function startUp(project: Project, env: NodeJS.ProcessEnv = {}): Promise<RunningHeddle> {
  const child: ChildProcess = spawn('npx', ['--no', 'heddle', 'up', '--port', '0', '--json'], {
    cwd: project.folder,
    env: { ...project.env, HEDDLE_LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  if (child.stdout === null) throw new TypeError('npx has no output')
  const line = once(createInterface({ input: child.stdout }), 'line')
  const ended = exited.then(() => {
    throw new Error(`npx heddle up ended with ${child.exitCode ?? child.signalCode}`)
  })
  const [text] = (await Promise.race([line, ended])) as [string]
  const { url } = JSON.parse(text) as { readonly url: string }
  return {
    url,
    async [Symbol.asyncDispose]() {
      // It ends soon after npx does: this returns once its port is free.
      child.kill('SIGTERM')
      await exited
      while (await answers(url)) await new Promise((resolve) => setTimeout(resolve, 100))
    },
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(1_000) })
    return true
  } catch {
    return false
  }
}
