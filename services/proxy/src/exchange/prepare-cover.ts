import type { Cover } from '@heddle/contracts'
import { coverSizes, firstKeptEntry, makeCover, pricesOf } from '@heddle/core'
import { coveredBy } from './covered-by.js'
import type { ExchangeDeps } from './deps.js'
import type { Understood } from './understand.js'

/** Longest wait for a context; nobody waits for it. */
const BUILD_MS_MAX = 60_000

/**
 * Prepares a summary that may replace the history of a conversation from its next request on, if one would pay. It is made
 * from the stored thread, while nobody waits for it.
 */
export async function prepareCover(
  { backend, policy, log, metrics }: Pick<ExchangeDeps, 'backend' | 'policy' | 'log' | 'metrics'>,
  { conversation, request, body }: Understood,
): Promise<void> {
  const { epoch, project, thread, agent } = conversation
  if (epoch === null || conversation.isPreparing) return
  const { prices } = pricesOf(request.protocol, request.model)
  const sizes = coverSizes({ request, epoch }, policy, prices)
  const contexts = backend()?.clientOf(project).contexts
  if (sizes === null || contexts === undefined) return
  const budget = Math.ceil(sizes.summaryTokens + sizes.keptTokens)
  conversation.isPreparing = true
  try {
    const context = await contexts.build(
      { thread, agent, budget, strategy: 'sandwich', format: 'neutral', rollingWindow: null },
      { deadlineMs: BUILD_MS_MAX, onBusy: 'fail' },
    )
    const covered = coveredBy(context, conversation.known.list, firstKeptEntry(request, sizes.keptTokens))
    // A context says nothing of what is not stored.
    const isWhole = covered !== null && [...conversation.known.unstored].every((entry) => entry >= covered.before)
    const made: Cover | null = isWhole ? makeCover(request, body, { ...covered, contextId: context.id }) : null
    metrics.covered(made === null ? 'unusable' : 'prepared')
    conversation.prepared = made ?? conversation.prepared
  } catch (error) {
    metrics.covered('failed')
    log.warn({ error }, 'preparing a summary failed; the next request of the conversation asks again')
  } finally {
    conversation.isPreparing = false
  }
}
