import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { dismiss, told } from '@heddle/test-support/forked'

const script = fileURLToPath(new URL('./busy-process.js', import.meta.url))

/** Works while this many other processes compute without pause. */
export async function withBusyThreads<Result>(count: number, work: () => Promise<Result>): Promise<Result> {
  const children = Array.from({ length: count }, () => fork(script, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }))
  try {
    await Promise.all(children.map((child) => told(child, 'ready')))
    return await work()
  } finally {
    await Promise.all(children.map(dismiss))
  }
}
