import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { dismiss, told } from '@heddle/test-support/forked'
import type { AskOrder, FloodAnswers, FloodOrder } from './flood-process.js'

/** A project whose calls come from a process of their own, so that the measuring process does not delay them. */
export interface Flood {
  ask(order: AskOrder): Promise<FloodAnswers>
  stop(): Promise<void>
}

const script = fileURLToPath(new URL('./flood-process.js', import.meta.url))

export async function startFlood({ urls, key, agent, thread }: Omit<FloodOrder, 'kind'>): Promise<Flood> {
  const child = fork(script, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  child.send({ kind: 'begin', urls, key, agent, thread } satisfies FloodOrder)
  await told(child, 'ready')
  return {
    async ask(order) {
      const answered = once(child, 'message') as Promise<[FloodAnswers]>
      child.send(order)
      return (await answered)[0]
    },
    stop: () => dismiss(child),
  }
}
