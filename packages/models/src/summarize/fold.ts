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
  /** All calls of one summary together, in milliseconds. */
  totalMsMax: 300_000,
  /** Parts that are summarized at once. */
  callsAtOnceMax: 4,
  /** Times that a fold begins anew because the provider counts more than was thought. */
  overflowsMax: 3,
} as const

/** What stands above a message: who said it, and its reference. */
const HEADING_TOKENS = 16

/** What an overflow may teach at most: words that were misread must not leave a model without room for good. */
const MARGIN_MAX = 6
const WINDOW_TOKENS_MIN = 2_000

function atLeastMin(windowTokens: number): number {
  return Math.max(WINDOW_TOKENS_MIN, Math.floor(windowTokens))
}

export type Question = { readonly system: string; readonly user: string }

interface FoldParts {
  readonly patient: PatientChat
  readonly request: SummaryRequest
  readonly learned: { windowTokens: number; margin: number }
  readonly signal: AbortSignal
  readonly onCall: (question: Question, answer: string, attempt: Attempt) => void
  readonly kept?: FinishedParts
}

/** One summary under way. */
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

  /** The provider's own count replaces what was thought of its window; without one, half of it is tried. */
  #learn({ windowTokens, requestedTokens }: ContextOverflowError): void {
    const { learned } = this.#parts
    const before = contentTokensMax({ ...learned, tokensMax: this.#parts.request.tokensMax })
    if (windowTokens !== null) learned.windowTokens = atLeastMin(Math.min(learned.windowTokens, windowTokens))
    if (windowTokens !== null && requestedTokens !== null && requestedTokens > windowTokens) {
      learned.margin = Math.min(MARGIN_MAX, learned.margin * Math.max(1, (1.05 * requestedTokens) / windowTokens))
    }
    // Whatever the words said, the next question must be smaller.
    const after = contentTokensMax({ ...learned, tokensMax: this.#parts.request.tokensMax })
    if (after > 0.9 * before) learned.windowTokens = atLeastMin(learned.windowTokens / 2)
  }

  async #fold(): Promise<string> {
    const { request, learned } = this.#parts
    const { messages, tokensMax } = request
    const facts = pinnedFacts(messages).map((fact) => ({ ...fact, text: redactSecrets(fact.text) }))
    const bodyMax = Math.max(40, tokensMax - Math.min(pinnedTokens(facts), Math.floor(tokensMax / 2)))
    const contentTokens = contentTokensMax({ ...learned, tokensMax: bodyMax })
    // What came before is content, too; it takes its place in the last call.
    const previous = request.previousSummary === null ? null : redactSecrets(request.previousSummary)
    const previousText = previous === null ? null : withinTokens(previous, Math.floor(contentTokens / 2))
    const room = contentTokens - (previousText === null ? 0 : countTokens(previousText))

    const parts = splitIntoParts(
      messages.map((source) => roughTokens(source.text) + HEADING_TOKENS),
      room,
    )
    // The text of a part is made when its turn comes: the conversation is never held as one text.
    const texts = parts.map(
      ({ from, to }) =>
        () =>
          redactedText(messages.slice(from, to), room),
    )
    const summary = await this.#merge(texts, { room, previousText, bodyMax })
    return withPinnedFacts(summary, facts, tokensMax)
  }

  async #merge(
    texts: readonly (() => string)[],
    limits: { room: number; previousText: string | null; bodyMax: number },
  ): Promise<string> {
    const { room, previousText, bodyMax } = limits
    let level = texts
    while (level.length > 1) {
      const summaries = await this.#each(level, partSummaryTokensMax(room, bodyMax))
      level = grouped(summaries, room).map((group) => () => group)
    }
    return await this.#ask(level[0]?.() ?? '', previousText, bodyMax)
  }

  /** Some at once, in order; the first that fails ends the others. */
  async #each(texts: readonly (() => string)[], tokensMax: number): Promise<string[]> {
    return await mapConcurrently(texts, (text, signal) => this.#part(text(), tokensMax, signal), {
      atOnce: modelSummarizerBounds.callsAtOnceMax,
      signal: this.#parts.signal,
    })
  }

  /** A part that an earlier try has finished is not asked for again. */
  async #part(text: string, tokensMax: number, signal: AbortSignal): Promise<string> {
    const { kept, request } = this.#parts
    const hash = fingerprint(JSON.stringify(['fold', request.purpose, tokensMax, text]))
    const found = await kept?.load(hash)
    if (found != null) return found
    const summary = await this.#ask(text, null, tokensMax, signal)
    await kept?.keep(hash, summary)
    return summary
  }

  /** One summary from one text that fits; a second try where the answer is no good, with half of the length. */
  async #ask(
    conversation: string,
    previousSummary: string | null,
    tokensMax: number,
    signal = this.#parts.signal,
  ): Promise<string> {
    let fault = ''
    for (const allowed of [tokensMax, Math.ceil(tokensMax / 2)]) {
      signal.throwIfAborted()
      if (++this.#calls > foldBounds.callsMax) {
        throw new RetryableError('SERVICE_UNAVAILABLE', `the summary took more than ${foldBounds.callsMax} calls`)
      }
      const { purpose } = this.#parts.request
      const question = summaryPrompt({ purpose, conversation, previousSummary, tokensMax: allowed })
      const { text, finish } = await this.#call(question, tokensMax, signal)
      const summary = cleaned(text)
      const found =
        finish === 'refused'
          ? 'the model refused'
          : finish === 'length'
            ? 'it was cut off at its longest length'
            : summaryFault(summary, { tokensMax, replacedTokens: 0 })
      if (found === null) return summary
      fault = found
    }
    throw new RetryableError('SERVICE_UNAVAILABLE', `the summary was refused: ${fault}`, { field: 'summary' })
  }

  async #call(question: Question, tokensMax: number, signal: AbortSignal) {
    const { patient, learned, onCall } = this.#parts
    const outputTokensMax = Math.ceil(tokensMax * learned.margin)
    let answered: Attempt | null = null
    const reply = await patient.complete({ ...question, outputTokensMax }, signal, (attempt) => {
      if (attempt.outcome === 'ok') answered = attempt
      else onCall(question, '', attempt)
    })
    if (answered !== null) onCall(question, reply.text, answered)
    return reply
  }
}
