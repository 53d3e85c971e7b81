import { defaultSettings, PermanentError } from '@heddle/contracts'
import { rawCost } from '../compaction/costs.js'
import { laneParts } from '../compaction/lane.js'
import { readConversation } from '../conversation/conversation.js'
import { messageReference } from '../conversation/references.js'
import type { NeutralMessage } from '../formats/neutral-message.js'
import { countTokens } from '../tokens/tokens.js'
import { fitHistory } from './fit-history.js'
import type { BuildOptions, ContextStrategy, FittedHistory, StrategyContext } from './strategy.js'

/** The rules that define a strategy; the rest of {@link ContextStrategy} is derived from them unless given. */
export type StrategyRules = Pick<ContextStrategy, 'name'> & Partial<ContextStrategy>

/**
 * Makes a strategy from its rules. Without rules it shows the whole history.
 *
 * @throws PermanentError `VALIDATION_ERROR` for a count or a share that is out of bounds
 */
export function defineStrategy(rules: StrategyRules): ContextStrategy {
  const preserveTop = whole('preserveTop', rules.preserveTop ?? 0)
  const preserveBottom = whole('preserveBottom', rules.preserveBottom ?? 0)
  const compressionThreshold = share('compressionThreshold', rules.compressionThreshold ?? 1)
  const strategy: ContextStrategy = {
    summaryParts: 'when-long',
    key: JSON.stringify([preserveTop, preserveBottom, compressionThreshold]),
    needsCompression: (messages, maxTokens, usedTokens = messages.reduce((sum, each) => sum + rawCost(each), 0)) =>
      strategy.planCoverage !== undefined &&
      usedTokens > maxTokens * compressionThreshold &&
      messages.length > preserveTop + preserveBottom,
    fitHistory: (input) => fitHistory(strategy, input),
    buildContext: (messages, cachedState, maxTokens, options = {}) =>
      buildWith(strategy, { messages, cachedState, maxTokens, options }),
    ...rules,
    preserveTop,
    preserveBottom,
    compressionThreshold,
  }
  return strategy
}

interface Request {
  readonly messages: Parameters<ContextStrategy['buildContext']>[0]
  readonly cachedState: Parameters<ContextStrategy['buildContext']>[1]
  readonly maxTokens: number
  readonly options: BuildOptions
}

function buildWith(strategy: ContextStrategy, { messages, cachedState, maxTokens, options }: Request): StrategyContext {
  if (!(maxTokens > 0)) throw limitNotPositive(maxTokens)
  const conversation = readConversation(messages)
  if (conversation.messages.length === 0 && cachedState?.summary == null) throw noMessages()
  const fitted = strategy.fitHistory({
    conversation,
    state: cachedState,
    lane: { ...laneParts(defaultSettings), key: strategy.name, ...options.lane, strategy, limitTokens: maxTokens },
    roomTokens: maxTokens,
    headSeq: messages.reduce((head, message) => Math.max(head, message.seq), cachedState?.headSeq ?? 0),
    format: options.format ?? 'neutral',
    count: options.count ?? countTokens,
    storedCountsFit: options.count === undefined,
    reference: options.reference ?? ((message) => messageReference(message.code)),
  })
  if ('neededTokens' in fitted) {
    throw new PermanentError(
      'BUDGET_TOO_SMALL',
      `the history needs about ${fitted.neededTokens} tokens, the budget is ${maxTokens}`,
      { field: 'budget', received: String(maxTokens), facts: { budget: maxTokens, needed: fitted.neededTokens } },
    )
  }
  return {
    messages: messagesOf(fitted),
    summaryUsed: fitted.summary !== null,
    tokensUsed: fitted.tokens,
    newState: fitted.state === cachedState ? null : fitted.state,
  }
}

/** The lines of a history with the summary at its position. */
export function messagesOf({ history, summary }: FittedHistory): NeutralMessage[] {
  const messages = history.lines.map((line) => line.neutral)
  if (summary) messages.splice(history.summaryAt, 0, summary)
  return messages
}

/** See docs/strategies.md#what-a-budget-means. */
export function limitNotPositive(received: number): PermanentError {
  return new PermanentError('VALIDATION_ERROR', 'Context limit must be positive', {
    field: 'budget',
    received: String(received),
  })
}

const APPEND_SOME = 'append messages to the thread, or give the request a message'

/**
 * See docs/strategies.md#a-strategy-of-your-own.
 *
 * @param why appended to the specified text, if there are messages but all are hidden
 */
export function noMessages(hint: string = APPEND_SOME, why?: string): PermanentError {
  const text = 'Conversation has no messages'
  return new PermanentError('VALIDATION_ERROR', why === undefined ? text : `${text}: ${why}`, {
    field: 'messages',
    received: 'nothing',
    hint,
  })
}

function whole(field: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new PermanentError('VALIDATION_ERROR', `${field}: must be a whole number from 0`, {
    field,
    received: String(value),
  })
}

function share(field: string, value: number): number {
  if (value > 0 && value <= 1) return value
  throw new PermanentError('VALIDATION_ERROR', `${field}: must be a share over 0, at most 1`, {
    field,
    received: String(value),
  })
}
