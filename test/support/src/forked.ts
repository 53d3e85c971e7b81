import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/**
 * Resolves when a forked process sends a message.
 *
 * @throws Error if it ends before that
 */
export function told(child: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: unknown) => {
      if (message !== word) return
      settle()
      resolve()
    }
    const onExit = () => {
      settle()
      reject(new Error(`the process ended before it said "${word}"`))
    }
    const settle = () => {
      child.off('message', onMessage)
      child.off('exit', onExit)
    }
    child.on('message', onMessage)
    child.on('exit', onExit)
  })
}

/** Stops a forked process in order: it closes by itself when its channel does. */
export async function dismiss(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  // A signal to the whole group may have closed the channel already.
  if (child.connected) child.disconnect()
  await exited
}
