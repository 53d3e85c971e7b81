import { setTimeout as sleep } from 'node:timers/promises'
import { HeddleError, RetryableError, type WakeStageName } from '@heddle/contracts'
import type { Engine } from '@heddle/host'
import type { CommandContext } from '../../connect/context.js'

/** Compacting a long session takes seconds; unfinished work continues when a worker runs next. */
const SETTLE_DEADLINE_MS = 120_000

/** `summaries`: a context needs no more. `everything`: words, vectors and facts, too. */
export type Through = 'summaries' | 'everything'

/** Milliseconds between polls; each polls all threads in one statement. */
const POLL_EVERY_MS = 500
/** Wakes that are sent together; they have four seconds. */
const WAKES_AT_ONCE = 64

/**
 * Waits until the workers have finished their work on some threads. Without progress for too long, it prints a note and
 * continues: everything is stored, and contexts are built from the current state.
 *
 * @returns whether all of it is done
 */
export async function settleThreads(
  context: CommandContext,
  engine: Engine,
  threads: readonly string[],
  through: Through,
): Promise<boolean> {
  const progress = context.printer.progress('pruned and summarized: threads', threads.length, { rate: true })
  try {
    const [only] = threads
    if (threads.length === 1 && only !== undefined) await settle(context, engine, only, through)
    else await settleMany({ context, engine, through, onSettled: (count) => progress.update(count) }, threads)
    progress.update(threads.length)
    return true
  } catch (error) {
    if (!(error instanceof HeddleError) || error.code !== 'TIMEOUT') throw error
    context.printer.note('pruning and summarizing are not finished; they continue when a worker runs: heddle up')
    return false
  } finally {
    progress.stop()
  }
}

interface Settling {
  readonly context: CommandContext
  readonly engine: Engine
  readonly through: Through
  readonly onSettled: (threads: number) => void
}

/** @throws RetryableError `TIMEOUT` if no thread settled for too long */
async function settleMany(
  { context, engine, through, onSettled }: Settling,
  threads: readonly string[],
): Promise<void> {
  const { threadIdOf } = await import('@heddle/core')
  const { findUnsettledThreads } = await import('@heddle/store')
  const { projectId, store, queues } = engine
  const stages = stagesThrough(through)
  let left = threads.map((thread) => threadIdOf(projectId, thread))
  let endsAtMs = performance.now() + SETTLE_DEADLINE_MS
  for (let isFirst = true; ; isFirst = false) {
    const threadIds = left
    const last = through === 'everything' ? 'remember' : 'summarize'
    left = await store.inProject(projectId, (tx) => findUnsettledThreads(tx, { threadIds, through: last }))
    onSettled(threads.length - left.length)
    if (left.length === 0) return
    const isStalled = left.length === threadIds.length
    if (!isStalled) endsAtMs = performance.now() + SETTLE_DEADLINE_MS
    if (performance.now() >= endsAtMs) {
      throw new RetryableError('TIMEOUT', `waited ${SETTLE_DEADLINE_MS} ms for one of ${left.length} threads to settle`)
    }
    // Jobs may have been lost together with the process that ran them; an unneeded wake-up does no harm.
    if (isFirst || isStalled) {
      const some = left.slice(0, WAKES_AT_ONCE)
      await queues.rewake(some.flatMap((threadId) => stages.map((stage) => ({ stage, projectId, threadId }))))
    }
    await sleep(POLL_EVERY_MS, undefined, { signal: context.signal })
  }
}

function stagesThrough(through: Through): readonly WakeStageName[] {
  return through === 'everything' ? ['prune', 'summarize', 'embed', 'remember'] : ['prune', 'summarize']
}

async function settle(context: CommandContext, engine: Engine, thread: string, through: Through): Promise<void> {
  const enough = new AbortController()
  // Jobs may have been lost together with the process that ran them; an unneeded wake-up does no harm.
  const { threadIdOf } = await import('@heddle/core')
  const wake = { projectId: engine.projectId, threadId: threadIdOf(engine.projectId, thread) }
  await engine.queues.rewake(stagesThrough(through).map((stage) => ({ stage, ...wake })))
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
