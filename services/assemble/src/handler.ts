import { type AssembleJob, errorData, HeddleError, type PartialSettings, PermanentError } from '@heddle/contracts'
import { buildContext } from '@heddle/core'
import { done, type Job, type Outcome, skipped } from '@heddle/queue'
import type { Clock } from '@heddle/runtime'
import { type ContextRow, failContext, finishContext, loadContext, type Store } from '@heddle/store'
import { loadBuildInput } from './load.js'
import type { TokenCounter } from './token-counter.js'

export interface AssembleDeps {
  readonly store: Store
  readonly clock: Clock
  readonly counter: TokenCounter
  /** Settings of the file and the environment, under those of agents. */
  readonly settings: PartialSettings
  /** Tells subscribers that a context is there. */
  readonly tellBuilt: (projectId: string, threadId: string, contextId: string) => Promise<void>
}

/**
 * Builds a requested context and stores it with its receipt. A request that cannot be met fails with its reason in the
 * row; a request that was answered already is left as it is.
 *
 * @throws HeddleError the reason, which also goes to the requester
 */
export async function assemble(job: Job<AssembleJob>, deps: AssembleDeps): Promise<Outcome> {
  const { projectId, contextId } = job.payload
  const requested = await deps.store.inProject(projectId, (tx) => loadContext(tx, { id: contextId }))
  if (!requested) return skipped('the request is gone')
  if (requested.status !== 'requested') return skipped(`already ${requested.status}`)

  try {
    refuseLate(requested, deps.clock)
    const input = await deps.store.inProject(projectId, (tx) => loadBuildInput(tx, requested, deps))
    const result = { id: contextId, ...buildContext(input) }
    await deps.store.inProject(projectId, (tx) => finishContext(tx, { id: contextId, result }))
  } catch (error) {
    const isFinal = error instanceof HeddleError && error.disposition !== 'retry'
    if (isFinal || job.attempt >= job.attemptsMax) {
      await deps.store.inProject(projectId, (tx) => failContext(tx, { id: contextId, error: errorData(error) }))
    }
    if (isFinal) return skipped(error.message)
    throw error
  }
  await deps.tellBuilt(projectId, requested.threadId, contextId)
  return done()
}

function refuseLate(requested: ContextRow, clock: Clock): void {
  if (requested.deadlineAtMs > clock.nowMs()) return
  throw new PermanentError('TIMEOUT', 'the request was taken up after its deadline', {
    hint: 'add assemble workers, or wait longer',
  })
}
