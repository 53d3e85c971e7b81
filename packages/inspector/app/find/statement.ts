import type { MessageEntry, SearchHit } from '@heddle/contracts'

/** A message of which one asks whether the model got it. */
export interface Statement {
  readonly messageId: string
  readonly reference: string
  readonly seq: number
  readonly thread: string
  /** Its kind in words. */
  readonly kind: string
  readonly at: string
  readonly text: string
  /** The whole text, once it is loaded: a search returns a part. */
  readonly whole?: string
  /** When it was stored, once it is loaded; `at` may be earlier. */
  readonly storedAt?: string
}

const CHARACTERS_SHOWN = 1_000

export function statementOfHit({ messageId, ref, seq, thread, kind, at, text }: SearchHit): Statement {
  return { messageId, reference: ref, seq, thread, kind, at, text }
}

export function statementOfMessage(message: MessageEntry): Statement {
  const { id, reference, seq, thread, role, toolName, orderedAt, receivedAt, content } = message
  const kind = toolName ?? role.replace('_', ' ')
  return {
    ...{ messageId: id, reference, seq, thread, kind, at: orderedAt, storedAt: receivedAt },
    ...{ text: content.slice(0, CHARACTERS_SHOWN), whole: content },
  }
}

export const wholeOf = ({ text, whole = text }: Statement): string => whole
