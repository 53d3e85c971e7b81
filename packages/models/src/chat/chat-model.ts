/** A language model behind either protocol: one prompt, one answer. Answers are untrusted. */
export interface ChatModel {
  readonly provider: string
  readonly model: string
  /**
   * @throws ContextOverflowError if the prompt is larger than the model's window; RetryableError for a temporary failure;
   *   PermanentError if a retry cannot help; the signal's reason once it is aborted
   */
  complete(request: ChatRequest, signal: AbortSignal): Promise<ChatReply>
}

export interface ChatRequest {
  readonly system: string
  readonly user: string
  /** Longest answer in the provider's tokens. */
  readonly outputTokensMax: number
}

export interface ChatReply {
  readonly text: string
  /** `length`: cut off at `outputTokensMax`. `refused`: the provider did not let it answer. */
  readonly finish: 'stop' | 'length' | 'refused'
  /** As counted by the provider; null if it did not report it. */
  readonly inputTokens: number | null
  readonly outputTokens: number | null
}

export interface ChatModelOptions {
  readonly provider: string
  readonly model: string
  readonly baseUrl: string
  /** Null if the provider needs no key. */
  readonly apiKey: string | null
  readonly outputField: 'max_tokens' | 'max_completion_tokens'
}

/** Most characters read of an answer: far more than any summary has. */
export const ANSWER_CHARACTERS_MAX = 400_000
