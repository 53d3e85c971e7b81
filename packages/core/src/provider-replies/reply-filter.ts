import type { JsonObject } from '@heddle/contracts'

/** A call of the proxy's own tool. */
export interface RecallCall {
  readonly id: string
  /** Arguments as the model wrote them; null if they are no object. */
  readonly input: JsonObject | null
}

/** A reply, or a part of one that ended with calls of the tool. */
export interface ReplyPart {
  readonly recalls: readonly RecallCall[]
  /** Whether the model waits for the recalled texts alone, so that the proxy goes on with the reply. */
  readonly isContinued: boolean
  /** The whole reply as an entry of the next request. */
  readonly entry: JsonObject
  /** Tokens as the provider reported them; empty if it did not. */
  readonly usage: JsonObject
}

/** Parts of a stream that a client gets: everything but the calls of the tool. */
export interface ReplyFilter {
  /** @returns the texts to send to the client */
  push(data: string, raw: string): string[]
  /** The texts that were held until the end of the stream. */
  flush(): string[]
  /** The part that has ended. Further pushes belong to the next part of the same reply. */
  endPart(): ReplyPart
}
