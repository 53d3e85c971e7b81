import type { PlannedMessage, PlanOptions, PrunePlan } from '@heddle/client/interface'
import { notFound, type PartialSettings, parse, prunePlanRequestSchema, validationError } from '@heddle/contracts'
import {
  countMessageTokens,
  countTokens,
  ineligibleReason,
  type Message,
  messageReference,
  planCompaction,
  readConversation,
  sentIn,
  threadIdOf,
} from '@heddle/core'
import {
  CONVERSATION_MESSAGES_MAX,
  type Compaction,
  loadCompaction,
  loadPins,
  loadUncovered,
  loadUndone,
  markPinned,
  markUndone,
  type Tx,
  toCompactionState,
  withPrunings,
} from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/**
 * The decisions of a compaction at the end of a thread, message by message, and the tokens that it would free. Nothing is
 * changed. The plan is the one that the prune stage would make.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`
 */
export async function planPruning(parts: EngineContext, options: PlanOptions): Promise<PrunePlan> {
  const { thread, agent, model, budget, strategy } = parse(prunePlanRequestSchema, options, 'prune plan')
  const request = {
    model,
    budget,
    strategy,
  }
  const { compaction, messages, state } = await parts.store.inProject(parts.projectId, async (tx) => {
    const found = await compactionOf(tx, parts, { thread, agent, request })
    return { compaction: found, ...(await loadUncompacted(tx, found)) }
  })
  const { lane } = compaction
  const reference = (message: Message) => messageReference(message.code)
  const { plan, usage, isDue } = planCompaction(readConversation(messages), state, lane, reference)
  const planned = plan === null ? [] : plannedMessages(plan, messages, reference)
  const tokensAfter = plan === null ? usage : usage - plan.freedTokens
  return {
    thread,
    agent: compaction.thread.agentName,
    limitTokens: lane.limitTokens,
    due: isDue,
    tokensBefore: usage,
    tokensAfter,
    tokensFreed: usage - tokensAfter,
    messages: planned,
  }
}

/**
 * The compaction of a thread in the lane of its settings, or of a request.
 *
 * @throws PermanentError `NOT_FOUND`; `VALIDATION_ERROR` if the thread belongs to another agent
 */
export async function compactionOf(
  tx: Tx,
  parts: EngineContext,
  { thread, agent, request = {} }: { thread: string; agent?: string | undefined; request?: PartialSettings },
): Promise<Compaction> {
  const query = { threadId: threadIdOf(parts.projectId, thread), settings: parts.settings, request }
  const compaction = await loadCompaction(tx, query)
  if (!compaction) throw notFound('thread', thread, 'see `heddle threads list`')
  const { agentName } = compaction.thread
  if (agent !== undefined && agent !== agentName) {
    throw validationError('agent', `must be the thread's agent, "${agentName}"`, agent)
  }
  return compaction
}

/** The messages of a thread that no summary covers, with the state that its compactions left. */
export async function loadUncompacted(tx: Tx, { thread, latest, settings }: Compaction) {
  const { threadId, clearedSeq, lastClearedAtMs } = thread
  const bare = latest && toCompactionState(latest)
  const query = { threadId, clearedSeq, lastClearedAtMs, state: bare, limit: CONVERSATION_MESSAGES_MAX }
  const [read, undone, pins] = await Promise.all([
    loadUncovered(tx, { ...query, keep: 'newest' }),
    loadUndone(tx, threadId),
    loadPins(tx, threadId),
  ])
  const messages = markPinned(markUndone(read.messages, undone), pins)
    .filter((message) => ineligibleReason(message) === null)
    .map((message) =>
      message.tokensExact ? message : { ...message, ...countMessageTokens(message, countTokens), tokensExact: true },
    )
    .map((message) => sentIn(settings.format ?? 'neutral', message))
  const state = latest && bare && (await withPrunings(tx, latest, bare, messages))
  return { messages, state, hasMore: read.hasMore }
}

type Plan = NonNullable<ReturnType<typeof planCompaction>['plan']>

function plannedMessages(
  { prunings, newlyCovered }: Plan,
  messages: readonly Message[],
  reference: (message: Message) => string,
): PlannedMessage[] {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const covered = new Set(newlyCovered.map((message) => message.id))
  const entry = (message: Message) => ({
    messageId: message.restores?.id ?? message.id,
    seq: message.seq,
    reference: reference(message),
    role: message.role,
    tokensBefore: message.tokens,
  })
  // A message that is both pruned and summarized is listed once: a context would have the summary.
  const pruned = prunings.flatMap(({ messageId, action, reason, text: own, calls, tokens }): PlannedMessage[] => {
    const message = byId.get(messageId)
    if (!message || covered.has(messageId)) return []
    const text = [own, ...calls.map((call) => call.text)].filter((line) => line !== '').join(' ')
    return [{ ...entry(message), action, reason, text, tokensAfter: tokens }]
  })
  const summarized = newlyCovered.map((message): PlannedMessage => {
    return {
      ...entry(message),
      action: 'summarize',
      reason: 'between the messages that the strategy keeps',
      text: '',
      tokensAfter: 0,
    }
  })
  return [...pruned, ...summarized].sort((left, right) => left.seq - right.seq)
}
