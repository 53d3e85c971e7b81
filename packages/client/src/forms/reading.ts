import type { JsonObject } from './json.js'
import type { MessageDraft } from './message-draft.js'

/** An entry of an append in a provider's form, checked and copied. */
export interface FormEntry {
  /** Its path in the input: `messages.3`. */
  readonly place: string
  readonly value: JsonObject
}

/** A message made from one or more entries. */
export interface FormMessage {
  /** The index of its first entry. */
  readonly entry: number
  /** The provider's id of the reply that it is, or belongs to. */
  readonly sourceId?: string | undefined
  readonly input: MessageDraft
}

/** Distinct source ids for the parts of one reply that became several messages. */
export function sourceIdOfPart(id: string | undefined, part: number, parts: number): string | undefined {
  return id === undefined || parts === 1 ? id : `${id}#${part}`
}
