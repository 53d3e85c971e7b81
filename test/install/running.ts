import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Project } from './project.js'

export interface RunningHeddle extends AsyncDisposable {
  readonly url: string
}

const ON_FREE_PORT = ['npx', '--no', 'heddle', 'up', '--port', '0', '--json']

/** Starts `heddle up`, by default on a free port, and waits until it prints its address. */
export async function startUp(
  project: Project,
  env: NodeJS.ProcessEnv = {},
  [name = '', ...parameters]: readonly string[] = ON_FREE_PORT,
): Promise<RunningHeddle> {
  const child: ChildProcess = spawn(name, parameters, {
    cwd: project.folder,
    env: { ...project.env, HEDDLE_LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const { stdout } = child
  if (stdout === null) throw new TypeError('npx has no output')
  const ended = exited.then(() => {
    throw new Error(`npx heddle up ended with ${child.exitCode ?? child.signalCode}`)
  })
  const url = await Promise.race([addressIn(stdout), ended])
  stdout.resume()
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

async function addressIn(output: Readable): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const [url] = /\bhttp:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
    if (url !== undefined) return url
  }
  throw new Error('heddle up printed no address')
}

async function answers(url: string): Promise<boolean> {
  try {
    await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(1_000) })
    return true
  } catch {
    return false
  }
}
