import { HeddleError } from '@heddle/contracts'
import { traced } from '@heddle/runtime'
import type { ChatModel, ChatReply, ChatRequest } from './chat-model.js'
import { type PatienceOptions, PatientCalls } from './patient-calls.js'

/** The record of one attempt of a call. */
export interface Attempt {
  readonly outcome: 'ok' | 'failed'
  /** The code of the error; null after a success. */
  readonly errorCode: string | null
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly durationMs: number
}

export type PatientChatOptions = PatienceOptions

/** Calls a chat model with retries and reports each attempt: see {@link PatientCalls}. */
export class PatientChat {
  readonly #chat: ChatModel
  readonly #calls: PatientCalls

  constructor(chat: ChatModel, options: PatientChatOptions) {
    this.#chat = chat
    this.#calls = new PatientCalls(chat, options)
  }

  complete(request: ChatRequest, signal: AbortSignal, onAttempt: (attempt: Attempt) => void): Promise<ChatReply> {
    const { provider, model } = this.#chat
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': model,
      'gen_ai.request.max_tokens': request.outputTokensMax,
    }
    return traced(`chat ${model}`, { kind: 'client', attributes }, async (span) => {
      const reply = await this.#complete(request, signal, onAttempt)
      span.set({
        'gen_ai.usage.input_tokens': reply.inputTokens ?? undefined,
        'gen_ai.usage.output_tokens': reply.outputTokens ?? undefined,
        'gen_ai.response.finish_reasons': [reply.finish],
      })
      return reply
    })
  }

  #complete(request: ChatRequest, signal: AbortSignal, onAttempt: (attempt: Attempt) => void): Promise<ChatReply> {
    return this.#calls.run(
      (either) => this.#chat.complete(request, either),
      signal,
      (outcome, durationMs) => {
        if ('reply' in outcome) {
          const { inputTokens, outputTokens } = outcome.reply
          return onAttempt({ outcome: 'ok', errorCode: null, inputTokens, outputTokens, durationMs })
        }
        const errorCode = outcome.error instanceof HeddleError ? outcome.error.code : 'ABORTED'
        onAttempt({ outcome: 'failed', errorCode, inputTokens: null, outputTokens: null, durationMs })
      },
    )
  }
}
