import type { StageState, StagesClient } from '@heddle/client/interface'
import type { Scaling, StageName } from '@heddle/contracts'
import type { Queues, StageBacklog, StageStats } from '@heddle/queue'
import type { EngineContext } from '../setup/options.js'

/** @param parts whose queues are read by the calls: a client without queues has all other operations */
export function stagesClient(parts: EngineContext): StagesClient {
  return {
    list: async () => ({ items: await readStages(parts.queues), nextCursor: null }),
    scaling: async () => toScaling(await parts.queues.backlogs()),
    async pause(stage) {
      await parts.queues.pause(stage)
      return { stage, paused: true }
    },
    async resume(stage) {
      await parts.queues.resume(stage)
      return { stage, paused: false }
    },
  }
}

async function readStages(queues: Queues): Promise<StageState[]> {
  const stages = await queues.stats()
  if (stages.some(({ pool }) => pool.workers > 0)) return stages.map(toState)
  // Workers report every few seconds: a process that has just started has heard of none.
  await queues.requestReports()
  return (await queues.stats()).map(toState)
}

function toState({ stage, waiting, active, delayed, oldestWaitMs, paused, pool }: StageStats): StageState {
  const { workers, done, failed, tookMs, perSecond } = pool
  const attempts = done + failed
  const meanMs = attempts === 0 ? null : tookMs / attempts
  return { stage, waiting, active, delayed, oldestWaitMs, paused, workers, perSecond, done, failed, meanMs }
}

function toScaling(backlogs: readonly StageBacklog[]): Scaling {
  const entries = backlogs.map(({ stage, waiting, prioritized, due, paused, oldestWaitMs }) => {
    const oldestWaitSeconds = (oldestWaitMs ?? 0) / 1_000
    const scaleSeconds = paused ? 0 : oldestWaitSeconds
    return [
      stage,
      { backlog: waiting + due, waiting, prioritized, due, oldestWaitSeconds, paused, scaleSeconds },
    ] as const
  })
  return { stages: Object.fromEntries(entries) as Record<StageName, Scaling['stages'][StageName]> }
}
