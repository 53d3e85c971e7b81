import type { JsonObject } from './json.js'
import type { MessageDraft } from './message-draft.js'

/** An entry of an append in a provider's form, checked and copied. */
export interface FormEntry {
  /** Its path in what was given: `messages.3`. */
  readonly place: string
  readonly value: JsonObject
}

/** A message that one or more entries say. */
export interface FormMessage {
  /** The index of the entry with which it begins. */
  readonly entry: number
  /** The provider's id of the reply that it is, or of which it is a part. */
  readonly sourceId?: string | undefined
  readonly input: MessageDraft
}

/** The parts of one reply that became several messages need a source id each. */
export function sourceIdOfPart(id: string | undefined, part: number, parts: number): string | undefined {
  return id === undefined || parts === 1 ? id : `${id}#${part}`
}
