import type { MeasuredDrain } from '@heddle/core'
import type { Bench } from '../bench.js'
import { timed } from '../load/statistics.js'
import type { Workers } from '../workers.js'
import { findPostmaster, othersMs, type SpentTimes, since, spentTimes } from './processor-times.js'
import { type StageBacklog, until } from './stage-backlogs.js'

export interface Drained extends MeasuredDrain {
  /** Processors that others on this machine used meanwhile, on average. */
  readonly othersBusy: number
}

/**
 * Adds a backlog while the queue of the stage is paused, and measures how the workers drain it. They have drained one of the same size
 * before, since they are slower while their code is compiled.
 */
export async function measureDrain(
  bench: Bench,
  backlog: StageBacklog,
  { workers: count, units }: { readonly workers: number; readonly units: number },
): Promise<Drained> {
  const { stage } = backlog
  const jobs = backlog.jobsOf(units) * count
  const workers: Workers[] = []
  const fill = async () => {
    await bench.queues.pause(stage)
    const isDrained = await backlog.fill(bench, jobs, units)
    return async () => {
      await bench.queues.resume(stage)
      await until(isDrained)
    }
  }
  try {
    await backlog.prepare?.(bench, units)
    // Prepared before the workers start, so that they take nothing of it.
    const warmUp = await fill()
    for (let each = 0; each < count; each++) workers.push(await bench.startStages(stage))
    await warmUp()
    const drain = await fill()
    const postmaster = await findPostmaster(bench)
    const before = await spentTimes(bench, postmaster, workers)
    const tookMs = await timed(drain)
    const spent = since(before, await spentTimes(bench, postmaster, workers))
    const { ownMs, helperMs, serverMs } = spent
    report(stage, { workers: count, units, jobs, tookMs }, spent)
    return { jobs, units, tookMs, ownMs, helperMs, serverMs, othersBusy: othersMs(spent) / tookMs }
  } finally {
    await Promise.all(workers.map((each) => each.stop()))
  }
}

/** The processor time of a job by part, to standard error: it explains a forecast that is wrong. */
function report(
  stage: string,
  { workers, units, jobs, tookMs }: { workers: number; units: number; jobs: number; tookMs: number },
  { ownMs, helperMs, serverMs, watcherMs, ...spent }: SpentTimes,
): void {
  const parts = Object.entries({ worker: ownMs, 'its other threads': helperMs, ...serverMs, 'this process': watcherMs })
  const times = parts.map(([name, ms]) => `${name} ${(ms / jobs).toFixed(3)}`).join(', ')
  const busy = (spent.machineMs / tookMs).toFixed(2)
  process.stderr.write(
    `${stage}: ${jobs} jobs of ${units} by ${workers}: ${(tookMs / jobs).toFixed(3)} ms each; ${times} ms; ${busy} processors busy\n`,
  )
}
