import { RetryableError } from '@heddle/contracts'
import {
  contentTokensMax,
  countTokens,
  fingerprint,
  foldBounds,
  partSummaryTokensMax,
  pinnedFacts,
  pinnedTokens,
  redactSecrets,
  roughTokens,
  type SummaryRequest,
  sentencesFault,
  splitIntoParts,
  summaryFault,
  summaryPrompt,
  withPinnedFacts,
} from '@heddle/core'
import { mapConcurrently } from '@heddle/runtime'
import type { Attempt, PatientChat } from '../chat/patient-chat.js'
import { ContextOverflowError } from '../chat/provider-errors.js'
import { cleaned, grouped, redactedText, withinTokens } from './fold-text.js'
import type { FinishedParts } from './summarizer.js'

export const modelSummarizerBounds = {
  /** Messages of one summary: more than two million tokens of ordinary ones. */
  messagesMax: 40_000,
  /** Time limit of all calls of one summary together, in milliseconds. */
  totalMsMax: 300_000,
  /** Parts that are summarized concurrently. */
  callsAtOnceMax: 4,
  /** How often a fold restarts because the provider counted more tokens than estimated. */
  overflowsMax: 3,
} as const

/** The heading of a message: its speaker and its reference. */
const HEADING_TOKENS = 16

/** Limits of the corrections after an overflow: a misread error message must not make a model unusable for good. */
const MARGIN_MAX = 6
const WINDOW_TOKENS_MIN = 2_000

function atLeastMin(windowTokens: number): number {
  return Math.max(WINDOW_TOKENS_MIN, Math.floor(windowTokens))
}

export type Prompt = { readonly system: string; readonly user: string }

interface FoldParts {
  readonly patient: PatientChat
  readonly request: SummaryRequest
  readonly learned: { windowTokens: number; margin: number }
  readonly signal: AbortSignal
  readonly onCall: (prompt: Prompt, answer: string, attempt: Attempt) => void
  readonly kept?: FinishedParts
}

/** Writes one summary; input that is larger than the model's window is summarized in parts, and their summaries are merged. */
export class Fold {
  readonly #parts: FoldParts
  #calls = 0

  constructor(parts: FoldParts) {
    this.#parts = parts
  }

  async run(): Promise<string> {
    for (let overflows = 0; ; overflows++) {
      try {
        return await this.#fold()
      } catch (error) {
        if (!(error instanceof ContextOverflowError) || overflows >= modelSummarizerBounds.overflowsMax) throw error
        this.#learn(error)
      }
    }
  }

  /** Corrects the assumed window by the provider's count; without a count it is halved. */
  #learn({ windowTokens, requestedTokens }: ContextOverflowError): void {
    const { learned } = this.#parts
    const before = contentTokensMax({ ...learned, tokensMax: this.#parts.request.tokensMax })
    if (windowTokens !== null) learned.windowTokens = atLeastMin(Math.min(learned.windowTokens, windowTokens))
    if (windowTokens !== null && requestedTokens !== null && requestedTokens > windowTokens) {
      learned.margin = Math.min(MARGIN_MAX, learned.margin * Math.max(1, (1.05 * requestedTokens) / windowTokens))
    }
    // Even if the counts were misread, the next prompt must be smaller.
    const after = contentTokensMax({ ...learned, tokensMax: this.#parts.request.tokensMax })
    if (after > 0.9 * before) learned.windowTokens = atLeastMin(learned.windowTokens / 2)
  }

  async #fold(): Promise<string> {
    const { request, learned } = this.#parts
    const { messages, tokensMax } = request
    // A snapshot has its messages beside its summary, so it need not repeat what is pinned.
    const pinned = request.purpose === 'snapshot' ? [] : pinnedFacts(messages)
    const facts = pinned.map((fact) => ({ ...fact, text: redactSecrets(fact.text) }))
    const bodyMax = Math.max(40, tokensMax - Math.min(pinnedTokens(facts), Math.floor(tokensMax / 2)))
    const contentTokens = contentTokensMax({ ...learned, tokensMax: bodyMax })
    // The previous summary is content, too, and is part of the last call.
    const previous = request.previousSummary === null ? null : redactSecrets(request.previousSummary)
    const previousText = previous === null ? null : withinTokens(previous, Math.floor(contentTokens / 2))
    const partTokens = contentTokens - (previousText === null ? 0 : countTokens(previousText))

    const parts = splitIntoParts(
      messages.map((source) => roughTokens(source.text) + HEADING_TOKENS),
      partTokens,
    )
    // The text of a part is created when the part is summarized, so that the conversation is never held as one text.
    const texts = parts.map(
      ({ from, to }) =>
        () =>
          redactedText(messages.slice(from, to), partTokens),
    )
    const summary = await this.#merge(texts, { partTokens, previousText, bodyMax })
    return withPinnedFacts(summary, facts, tokensMax)
  }

  async #merge(
    texts: readonly (() => string)[],
    limits: { partTokens: number; previousText: string | null; bodyMax: number },
  ): Promise<string> {
    const { partTokens, previousText, bodyMax } = limits
    let level = texts
    while (level.length > 1) {
      const summaries = await this.#each(level, partSummaryTokensMax(partTokens, bodyMax))
      level = grouped(summaries, partTokens).map((group) => () => group)
    }
    return await this.#summarize(level[0]?.() ?? '', previousText, { tokensMax: bodyMax, isWhole: true })
  }

  /** Concurrently, with the results in order; the first failure ends the others. */
  async #each(texts: readonly (() => string)[], tokensMax: number): Promise<string[]> {
    return await mapConcurrently(texts, (text, signal) => this.#part(text(), tokensMax, signal), {
      atOnce: modelSummarizerBounds.callsAtOnceMax,
      signal: this.#parts.signal,
    })
  }

  /** Reuses the summary of a part that an earlier attempt has finished. */
  async #part(text: string, tokensMax: number, signal: AbortSignal): Promise<string> {
    const { kept, request } = this.#parts
    const hash = fingerprint(JSON.stringify(['fold', request.purpose, tokensMax, text]))
    const found = await kept?.load(hash)
    if (found != null) return found
    const summary = await this.#summarize(text, null, { tokensMax, isWhole: false }, signal)
    await kept?.keep(hash, summary)
    return summary
  }

  /**
   * Summarizes one text that fits; if the answer is unusable, a second call requests half of the length.
   *
   * @param limits `isWhole`: of all messages, so that it is the answer, and not a part of one
   */
  async #summarize(
    conversation: string,
    previousSummary: string | null,
    { tokensMax, isWhole }: { tokensMax: number; isWhole: boolean },
    signal = this.#parts.signal,
  ): Promise<string> {
    let fault = ''
    for (const allowed of [tokensMax, Math.ceil(tokensMax / 2)]) {
      signal.throwIfAborted()
      if (++this.#calls > foldBounds.callsMax) {
        throw new RetryableError('SERVICE_UNAVAILABLE', `the summary took more than ${foldBounds.callsMax} calls`)
      }
      const { purpose } = this.#parts.request
      const prompt = summaryPrompt({ purpose, conversation, previousSummary, tokensMax: allowed })
      const { text, finish } = await this.#call(prompt, tokensMax, signal)
      const summary = cleaned(text)
      const found =
        finish === 'refused'
          ? 'the model refused'
          : finish === 'length'
            ? 'it was cut off at its length limit'
            : (summaryFault(summary, { tokensMax, replacedTokens: 0 }) ??
              (isWhole && purpose === 'snapshot' ? sentencesFault(summary) : null))
      if (found === null) return summary
      fault = found
    }
    throw new RetryableError('SERVICE_UNAVAILABLE', `the summary was refused: ${fault}`, { field: 'summary' })
  }

  async #call(prompt: Prompt, tokensMax: number, signal: AbortSignal) {
    const { patient, learned, onCall } = this.#parts
    const outputTokensMax = Math.ceil(tokensMax * learned.margin)
    let answered: Attempt | null = null
    const reply = await patient.complete({ ...prompt, outputTokensMax }, signal, (attempt) => {
      if (attempt.outcome === 'ok') answered = attempt
      else onCall(prompt, '', attempt)
    })
    if (answered !== null) onCall(prompt, reply.text, answered)
    return reply
  }
}
