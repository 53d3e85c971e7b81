/** A block of Anthropic, or a message of OpenAI, as a client holds it. */
export type Block = Readonly<Record<string, unknown>>

/** One request that a client sends, and the reply that was recorded. */
export interface RecordedRequest {
  readonly atMs: number
  /** Everything that the client holds at this moment, without marks. */
  readonly history: readonly Block[]
  /** The content blocks of Anthropic, or one message of OpenAI. */
  readonly reply: readonly Block[]
  /** `compaction` for a request by which the client has its history summarized. */
  readonly purpose: 'agent' | 'compaction'
  /** Tokens of the request as the provider counted them; null if the recording does not say. */
  readonly recorded: RecordedTokens | null
}

export interface RecordedTokens {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

export interface ReplaySession {
  readonly name: string
  readonly protocol: 'anthropic' | 'openai-chat'
  readonly model: string
  readonly requests: readonly RecordedRequest[]
  /** The body of a request with a history, as the client of this protocol writes it. */
  body(history: readonly Block[]): string
  /** A message of the person. */
  ask(text: string): Block
  /** A reply as a message of the history. */
  answer(reply: readonly Block[]): readonly Block[]
}
