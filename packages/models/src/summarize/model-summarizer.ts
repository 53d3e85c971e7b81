import { RetryableError, type SummaryCall } from '@heddle/contracts'
import { countTokens, redactSecrets } from '@heddle/core'
import { type Clock, withDeadline } from '@heddle/runtime'
import type { ChatModel } from '../chat/chat-model.js'
import { type Attempt, PatientChat, type PatientChatOptions } from '../chat/patient-chat.js'
import { ContextOverflowError } from '../chat/provider-errors.js'
import type { ModelFacts } from '../chat/providers.js'
import { Fold, modelSummarizerBounds, type Prompt } from './fold.js'
import { cleaned } from './fold-text.js'
import type { Summarizer } from './summarizer.js'

export interface ModelSummarizerOptions extends PatientChatOptions {
  readonly chat: ChatModel
  readonly facts: ModelFacts
  /** Most tokens of the provider per token of o200k. */
  readonly margin: number
  readonly clock: Clock
  /** Default {@link modelSummarizerBounds}. */
  readonly totalMsMax?: number
  /** Called after each call, for all summaries. */
  readonly onCall?: (call: SummaryCall) => void
}

/**
 * A summarizer that calls a language model. Input that is larger than the model's window is folded in parts; secrets are
 * redacted in all prompts; each answer is checked, and requested once more if it is unusable.
 */
export function createModelSummarizer(options: ModelSummarizerOptions): Summarizer {
  const { chat, clock, totalMsMax = modelSummarizerBounds.totalMsMax } = options
  const patient = new PatientChat(chat, options)
  /** Corrected after overflows, for all later summaries of this process. */
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
      const late = () => new RetryableError('TIMEOUT', `the summary did not finish within ${totalMsMax} ms`)
      return await withDeadline(fold, { timeoutMs: totalMsMax, late, signal, clock })
    },
    async answer({ purpose, system, user, tokensMax }, signal, { onCall: onOwnCall = () => undefined } = {}) {
      const onCall = recorder(options, { purpose }, (call) => {
        options.onCall?.(call)
        onOwnCall(call)
      })
      const prompt = { system, user: redactSecrets(user) }
      const outputTokensMax = Math.ceil(tokensMax * learned.margin)
      let answered: Attempt | null = null
      const complete = (either: AbortSignal) =>
        patient.complete({ ...prompt, outputTokensMax }, either, (attempt) => {
          if (attempt.outcome === 'ok') answered = attempt
          else onCall(prompt, '', attempt)
        })
      const late = () => new RetryableError('TIMEOUT', `the answer did not come within ${totalMsMax} ms`)
      try {
        const { text, finish } = await withDeadline(complete, { timeoutMs: totalMsMax, late, signal, clock })
        if (answered !== null) onCall(prompt, text, answered)
        return finish === 'stop' ? cleaned(text) : null
      } catch (error) {
        if (error instanceof ContextOverflowError) return null
        throw error
      }
    },
  }
}

function recorder(
  { chat, facts }: ModelSummarizerOptions,
  { purpose }: Pick<SummaryCall, 'purpose'>,
  onCall: (call: SummaryCall) => void,
) {
  return (prompt: Prompt, answer: string, attempt: Attempt) => {
    const isDone = attempt.outcome === 'ok'
    const inputTokens = attempt.inputTokens ?? (isDone ? countTokens(prompt.system) + countTokens(prompt.user) : null)
    const outputTokens = attempt.outputTokens ?? (isDone ? countTokens(answer) : null)
    const costUsd =
      facts.price === null || inputTokens === null || outputTokens === null
        ? null
        : (inputTokens * facts.price[0] + outputTokens * facts.price[1]) / 1_000_000
    const { provider, model } = chat
    onCall({ purpose, provider, model, ...attempt, inputTokens, outputTokens, costUsd })
  }
}
