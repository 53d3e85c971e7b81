import type { StageState, StagesClient } from '@heddle/client/interface'
import { type Scaling, type StageBehind, type StageName, wakeStageNames } from '@heddle/contracts'
import type { Queues, StageBacklog, StageStats } from '@heddle/queue'
import { loadStagesBehind } from '@heddle/store'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'

/** Threads that are read to count those that are behind. */
const THREADS_READ_MAX = 1_000

/** @param parts whose queues are read by the calls: a client without queues has all other operations */
export function stagesClient(parts: EngineContext): StagesClient {
  return {
    list: async () => ({ items: await readStages(parts.queues), nextCursor: null }),
    behind: async () => ({ items: await readBehind(parts), nextCursor: null }),
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

async function readBehind({ store, projectId }: EngineContext): Promise<StageBehind[]> {
  const { rows, threadsRead } = await store.inProject(projectId, (tx) =>
    loadStagesBehind(tx, { threadsMax: THREADS_READ_MAX }),
  )
  const isComplete = threadsRead < THREADS_READ_MAX
  return wakeStageNames.map((stage) => {
    const row = rows.find((each) => each.stage === stage)
    if (row === undefined) {
      return { stage, threads: 0, messages: 0, since: null, thread: null, failure: null, isComplete }
    }
    const { threads, messages, sinceMs, thread, failedThreads, failedThread, error, retryAtMs } = row
    const failure =
      error === null || failedThread === null
        ? null
        : {
            threads: failedThreads,
            thread: failedThread,
            // The mark of a thread begins with the name of its stage.
            error: error.slice(stage.length + 1).trim(),
            retryAt: retryAtMs === null ? null : isoTime(retryAtMs),
          }
    return { stage, threads, messages, since: sinceMs === null ? null : isoTime(sinceMs), thread, failure, isComplete }
  })
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
