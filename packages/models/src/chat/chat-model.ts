/** A language model behind either protocol: one question, one answer. What it says is untrusted. */
export interface ChatModel {
  readonly provider: string
  readonly model: string
  /**
   * @throws ContextOverflowError where the question is larger than the model's window; RetryableError where it failed for
   *   now; PermanentError where trying again cannot help; the signal's reason once it is aborted
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
  /** As the provider counted; null where it did not say. */
  readonly inputTokens: number | null
  readonly outputTokens: number | null
}

export interface ChatModelOptions {
  readonly provider: string
  readonly model: string
  readonly baseUrl: string
  /** Null where the provider needs none. */
  readonly apiKey: string | null
  readonly outputField: 'max_tokens' | 'max_completion_tokens'
}

/** Characters of an answer that are read at most: far more than any summary has. */
export const ANSWER_CHARACTERS_MAX = 400_000
