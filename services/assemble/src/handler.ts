import { type AssembleJob, errorData, HeddleError, type PartialSettings, PermanentError } from '@heddle/contracts'
import { type BuildInput, buildContext, threadIdOf } from '@heddle/core'
import { done, type Job, type Outcome, skipped } from '@heddle/queue'
import type { Clock } from '@heddle/runtime'
import { type ContextRow, failContext, finishContext, loadContext, type Store, type Tx } from '@heddle/store'
import { loadBuildInput } from './load.js'
import type { TokenCounter } from './token-counter.js'

export interface AssembleDeps {
  readonly store: Store
  readonly clock: Clock
  readonly counter: TokenCounter
  /** Settings of the file and the environment, under those of agents. */
  readonly settings: PartialSettings
  /** Tells subscribers that a context is there. Nobody waits for it: the requester's reply comes first. */
  readonly tellBuilt: (projectId: string, threadId: string, contextId: string) => void
}

/**
 * Builds a requested context and stores it with its receipt. A request that cannot be met fails with its reason in the
 * row; a request that was answered already is left as it is.
 *
 * @throws HeddleError the reason, which also goes to the requester
 */
export async function assemble(job: Job<AssembleJob>, deps: AssembleDeps): Promise<Outcome> {
  const { projectId, contextId } = job.payload
  try {
    // One transaction for all that is read: each costs three round trips of its own. One moment, too: messages that came
    // between reading and counting would be accounted for as what they are not.
    const loaded = await deps.store.inProject(projectId, (tx) => load(tx, contextId, deps), { snapshot: true })
    if ('reason' in loaded) return skipped(loaded.reason)
    const result = { id: contextId, ...buildContext(loaded.input) }
    const mentions = (loaded.input.activity?.threads ?? []).map(({ name }) => threadIdOf(projectId, name))
    await deps.store.inProject(projectId, (tx) => finishContext(tx, { id: contextId, result, mentions }))
    deps.tellBuilt(projectId, loaded.threadId, contextId)
    return done()
  } catch (error) {
    const isFinal = error instanceof HeddleError && error.disposition !== 'retry'
    if (isFinal || job.attempt >= job.attemptsMax) {
      await deps.store.inProject(projectId, (tx) => failContext(tx, { id: contextId, error: errorData(error) }))
    }
    if (isFinal) return skipped(error.message)
    throw error
  }
}

type Loaded = { readonly input: BuildInput; readonly threadId: string } | { readonly reason: string }

async function load(tx: Tx, contextId: string, deps: AssembleDeps): Promise<Loaded> {
  const requested = await loadContext(tx, { id: contextId })
  if (!requested) return { reason: 'the request is gone' }
  if (requested.status !== 'requested') return { reason: `already ${requested.status}` }
  refuseLate(requested, deps.clock)
  return { input: await loadBuildInput(tx, requested, deps), threadId: requested.threadId }
}

function refuseLate(requested: ContextRow, clock: Clock): void {
  if (requested.deadlineAtMs > clock.nowMs()) return
  throw new PermanentError('TIMEOUT', 'the request was taken up after its deadline', {
    hint: 'add assemble workers, or wait longer',
  })
}
