import type { MessageInput } from '@heddle/contracts'

/** Formats of recorded sessions. */
export const sessionFormats = ['heddle', 'claude-code', 'openai', 'anthropic', 'swe-agent'] as const
export type SessionFormat = (typeof sessionFormats)[number]

/** A message as a producer sends it, before it has an id. */
export type MessageDraft = Omit<MessageInput, 'id'>

export interface ParsedMessage {
  /** The UUID that the file gives to the message as its own; null where the id is to be derived from `identity`. */
  id: string | null
  /** Unique in its thread and the same each time the file is read: the source's own id, or position and content hash. */
  identity: string
  input: MessageDraft
}

export interface ParsedThread {
  /** What tells the threads of one file apart in their names; null for a file's main or only thread. */
  suffix: string | null
  messages: ParsedMessage[]
  toolCalls: number
  toolResults: number
}

export interface ParsedFile {
  format: SessionFormat
  threads: ParsedThread[]
  /** What gave no message, by kind: `{ "system/turn_duration": 16, "unfinished last line": 1 }`. */
  skipped: Record<string, number>
}

/** A message as a format's reader leaves it, before it is checked and identified. */
export interface DraftMessage {
  /** Where it stands in the file, for errors: `line 12`, `messages.3`. */
  place: string
  id?: string
  /** The source's own id. */
  identity?: string
  input: MessageDraft
}

/** A message, and its thread: a number that tells the threads of a file apart, in the order in which they are told of. */
export interface Draft {
  thread: number
  message: DraftMessage
}

/** What reads the messages of a format, from the beginning of a file to its end. */
export interface Reading {
  drafts: Iterable<Draft>
  /** What tells a thread apart in its name; to be asked once all has been read. */
  suffixOf(thread: number): string | null
}

export interface ReadingOptions {
  /** Whether any entry of the file is a conversation in itself. */
  holdsLists: boolean
  /** Counts what gives no message, by its kind. */
  skipped: Map<string, number>
}

const SKIPPED_NAME_CHARACTERS_MAX = 80

/** Counts a record that is no message. The name may come from the file, so it is bounded. */
export function countSkipped(skipped: Map<string, number>, name: string): void {
  const bounded = name.slice(0, SKIPPED_NAME_CHARACTERS_MAX)
  skipped.set(bounded, (skipped.get(bounded) ?? 0) + 1)
}
