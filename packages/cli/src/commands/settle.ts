import { HeddleError, type WakeStageName } from '@heddle/contracts'
import type { CommandContext } from '../context.js'
import type { Engine } from '../engine.js'

/** Compaction of a long session takes seconds; what takes longer goes on when a worker runs next. */
const SETTLE_DEADLINE_MS = 120_000

/** `summaries`: a context needs no more. `vectors`: everything. */
export type Through = 'summaries' | 'vectors'

/**
 * Waits until the workers have done what there is to do for some threads. Where that takes too long, it says so and goes on:
 * everything is stored, and a context is built from what is there.
 *
 * @returns whether all of it is done
 */
export async function settleThreads(
  context: CommandContext,
  engine: Engine,
  threads: readonly string[],
  through: Through,
): Promise<boolean> {
  const progress = context.printer.progress('pruning and summarizing', threads.length)
  try {
    for (const [index, thread] of threads.entries()) {
      progress.update(index)
      await settle(context, engine, thread, through)
    }
    return true
  } catch (error) {
    if (!(error instanceof HeddleError) || error.code !== 'TIMEOUT') throw error
    context.printer.note('pruning and summarizing is not done yet; it goes on when a worker runs: heddle up')
    return false
  } finally {
    progress.stop()
  }
}

async function settle(context: CommandContext, engine: Engine, thread: string, through: Through): Promise<void> {
  const enough = new AbortController()
  // Jobs may have been lost with the process that was to handle them; a wake that is not needed does no harm.
  const { threadIdOf } = await import('@heddle/core')
  const wake = { projectId: engine.projectId, threadId: threadIdOf(engine.projectId, thread) }
  const stages: WakeStageName[] = ['prune', 'summarize']
  if (through === 'vectors') stages.push('embed')
  await engine.queues.rewake(stages.map((stage) => ({ stage, ...wake })))
  try {
    await engine.client.threads.waitUntilSettled(thread, {
      deadlineMs: SETTLE_DEADLINE_MS,
      signal: AbortSignal.any([context.signal, enough.signal]),
      onProgress({ headSeq, cursors, isProgressKept }) {
        const isSummarized = Math.min(cursors.prune, cursors.summarize) >= headSeq && isProgressKept
        if (through === 'summaries' && isSummarized) enough.abort()
      },
    })
  } catch (error) {
    if (!enough.signal.aborted) throw error
  }
}
