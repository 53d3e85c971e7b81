import { spawnNode } from '@heddle/test-support'
import { type ProtocolRequest, startProtocolServer } from '@heddle/test-support/servers/protocol-server'
import { replyTo } from './loop-script.js'

export interface LoopOptions {
  /** Runs an agent from turn `FIRST` to `LAST`, and prints each; without `HEDDLE_URL` with the framework's own memory. */
  readonly program: URL
  readonly turns: number
  readonly env: Readonly<Record<string, string>>
}

/** Runs an agent, kills its process in the middle of a turn, and starts another. @returns what its model was sent */
export async function runKilled(
  { program, turns, env }: LoopOptions,
  killedAfter: readonly number[],
): Promise<readonly ProtocolRequest[]> {
  let arrived = () => {}
  const provider = await startProtocolServer((request) => {
    arrived()
    return replyTo(request)
  })
  try {
    let first = 1
    for (const last of [...killedAfter, turns]) {
      const given = {
        HEDDLE_URL: undefined,
        ...env,
        PROVIDER_URL: provider.openAiUrl,
        FIRST: `${first}`,
        LAST: `${turns}`,
      }
      const started = spawnNode(program, { env: given })
      await started.line(new RegExp(`^turn ${last} done$`, 'm'), 280_000)
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
