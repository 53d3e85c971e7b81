import type { MessageInput } from '@heddle/contracts'
import type { JsonObject } from './json.js'

/** A message as a producer sends it, before it has an id. */
export type MessageDraft = Omit<MessageInput, 'id'>

/** A message from a format's reader, before it is checked and gets an id. */
export interface DraftMessage {
  /** Its place in the file, for errors: `line 12`, `messages.3`. */
  place: string
  id?: string
  /** The source's own id. */
  identity?: string
  input: MessageDraft
}

const SKIPPED_NAME_CHARACTERS_MAX = 80

/** Counts a record that is not a message. The name may come from the file, so its length is limited. */
export function countSkipped(skipped: Map<string, number>, name: string): void {
  const bounded = name.slice(0, SKIPPED_NAME_CHARACTERS_MAX)
  skipped.set(bounded, (skipped.get(bounded) ?? 0) + 1)
}

export interface SourceRecord {
  /** Its place in the file, for errors: `line 12`, `messages.3`. */
  place: string
  value: JsonObject
}
