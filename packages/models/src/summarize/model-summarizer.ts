import { RetryableError, type SummaryCall } from '@heddle/contracts'
import { countTokens, type SummaryRequest } from '@heddle/core'
import { type Clock, withDeadline } from '@heddle/runtime'
import type { ChatModel } from '../chat/chat-model.js'
import { type Attempt, PatientChat, type PatientChatOptions } from '../chat/patient-chat.js'
import type { ModelFacts } from '../chat/providers.js'
import { Fold, modelSummarizerBounds, type Question } from './fold.js'
import type { Summarizer } from './summarizer.js'

export interface ModelSummarizerOptions extends PatientChatOptions {
  readonly chat: ChatModel
  readonly facts: ModelFacts
  /** How many of the provider's tokens one of o200k may be. */
  readonly margin: number
  readonly clock: Clock
  /** Default {@link modelSummarizerBounds}. */
  readonly totalMsMax?: number
  /** Told of each call, whoever asked for the summary. */
  readonly onCall?: (call: SummaryCall) => void
}

/**
 * A summarizer that asks a language model. What is larger than the model's window is folded in parts; secrets are taken out
 * of all that leaves; each answer is checked, asked for once more where it is no good, and never used unchecked.
 */
export function createModelSummarizer(options: ModelSummarizerOptions): Summarizer {
  const { chat, clock, totalMsMax = modelSummarizerBounds.totalMsMax } = options
  const patient = new PatientChat(chat, options)
  /** What an overflow taught: it holds for all later summaries of this process. */
  const learned = { windowTokens: options.facts.windowTokens, margin: options.margin }
  return {
    name: `${chat.provider} ${chat.model}`,
    isRemote: true,
    messagesMax: modelSummarizerBounds.messagesMax,
    async summarize(request, signal, { onCall: onOwnCall = () => undefined, parts } = {}) {
      const onCall = recorder(options, request, (call) => {
        options.onCall?.(call)
        onOwnCall(call)
      })
      const fold = (either: AbortSignal) =>
        new Fold({ patient, request, learned, signal: either, onCall, ...(parts && { kept: parts }) }).run()
      const late = () => new RetryableError('TIMEOUT', `the summary was not done within ${totalMsMax} ms`)
      return await withDeadline(fold, { timeoutMs: totalMsMax, late, signal, clock })
    },
  }
}

function recorder(
  { chat, facts }: ModelSummarizerOptions,
  { purpose }: SummaryRequest,
  onCall: (call: SummaryCall) => void,
) {
  return (question: Question, answer: string, attempt: Attempt) => {
    const isDone = attempt.outcome === 'ok'
    const inputTokens =
      attempt.inputTokens ?? (isDone ? countTokens(question.system) + countTokens(question.user) : null)
    const outputTokens = attempt.outputTokens ?? (isDone ? countTokens(answer) : null)
    const costUsd =
      facts.price === null || inputTokens === null || outputTokens === null
        ? null
        : (inputTokens * facts.price[0] + outputTokens * facts.price[1]) / 1_000_000
    const { provider, model } = chat
    onCall({ purpose, provider, model, ...attempt, inputTokens, outputTokens, costUsd })
  }
}
