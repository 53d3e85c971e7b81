import type { ReportedTokens } from './reply-body.js'
import type { Block, RecordedRequest, ReplaySession } from './session.js'

/** A request as it leaves for the provider. */
export interface SentRequest {
  readonly body: string
  /** Whether the sender says that this request does not go on from the bytes of the last one. */
  readonly isNewEpoch: boolean
  /** Requests that the sender adds by itself before this one, such as a compaction. */
  readonly before?: readonly { readonly body: string; readonly reply: readonly Block[] }[]
}

/** A fact that some doors report only with the reply. */
export interface ConfirmedRequest {
  readonly isNewEpoch: boolean
}

/** A stage between a client and its provider, which can replace the bytes that are sent. */
export interface Door {
  send(request: RecordedRequest, body: string): SentRequest | Promise<SentRequest>
  /** The provider's reply to the last request, with the tokens that it reports. */
  replied?(reply: readonly Block[], usage: ReportedTokens): ConfirmedRequest | null | Promise<ConfirmedRequest | null>
  close?(): Promise<void>
}

/** No proxy: the bytes of the client. Its own compaction begins anew. */
export function directDoor(): Door {
  let length = 0
  return {
    send({ history }, body) {
      const isNewEpoch = history.length < length
      length = history.length
      return { body, isNewEpoch }
    },
  }
}

const MASK = '[The result was left out to save tokens.]'

/** Leaves out all results but the newest, in every request: the one that was newest in the request before changes each time. */
export function maskingDoor(session: ReplaySession): Door {
  return {
    send({ history }) {
      const newest = history.findLastIndex(hasResult)
      const masked = history.map((message, index) => (index < newest ? withoutResults(message) : message))
      // Each of its requests changes an earlier message, so none goes on from the one before.
      return { body: session.body(masked), isNewEpoch: true }
    },
  }
}

function hasResult({ role, content }: Block): boolean {
  return role === 'tool' || (Array.isArray(content) && content.some(isResult))
}

function isResult(block: Block): boolean {
  return block['type'] === 'tool_result'
}

function withoutResults(message: Block): Block {
  if (message['role'] === 'tool') return { ...message, content: MASK }
  if (!hasResult(message)) return message
  const blocks = message['content'] as readonly Block[]
  return { ...message, content: blocks.map((block) => (isResult(block) ? { ...block, content: MASK } : block)) }
}
