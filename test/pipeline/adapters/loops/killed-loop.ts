import type { SpawnedNode } from '@heddle/test-support'
import { type ProtocolRequest, type Responder, startProtocolServer } from '@heddle/test-support/servers/protocol-server'
import { replyTo } from './loop-script.js'

export type LoopEnvironment = Readonly<Record<string, string | undefined>>

export interface KilledLoop {
  /** Starts an agent that runs from turn `FIRST` to `LAST` with the model at `PROVIDER_URL`, and prints each. */
  readonly start: (env: LoopEnvironment) => SpawnedNode
  readonly turns: number
  readonly env: LoopEnvironment
  /** The replies of its models. Default: one call of a tool in each turn. */
  readonly respond?: Responder
}

/** The turns of an agent until it is killed take no longer. */
const TURNS_MS_MAX = 280_000

/** Runs an agent, kills its process in the middle of a turn, and starts another. @returns what its models were sent */
export async function runKilled(
  { start, turns, env, respond = replyTo }: KilledLoop,
  killedAfter: readonly number[],
): Promise<readonly ProtocolRequest[]> {
  let arrived = () => {}
  const provider = await startProtocolServer((request) => {
    arrived()
    return respond(request)
  })
  try {
    let first = 1
    for (const last of [...killedAfter, turns]) {
      const started = start({ ...env, PROVIDER_URL: provider.openAiUrl, FIRST: `${first}`, LAST: `${turns}` })
      await started.line(new RegExp(`^turn ${last} done$`, 'm'), TURNS_MS_MAX)
      if (last < turns) {
        await new Promise<void>((resolve) => {
          arrived = resolve
        })
      }
      started.kill('SIGKILL')
      await started.exited
      if (started.stderr() !== '') throw new Error(started.stderr())
      first = Math.max(...[...started.stdout().matchAll(/turn (\d+) done/g)].map(([, turn]) => Number(turn))) + 1
    }
    return [...provider.requests]
  } finally {
    await provider.close()
  }
}
