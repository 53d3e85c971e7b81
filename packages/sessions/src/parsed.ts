import type { DraftMessage, MessageDraft } from '@heddle/client/forms'

/** Formats of recorded sessions. */
export const sessionFormats = ['heddle', 'claude-code', 'openai', 'anthropic', 'swe-agent'] as const
export type SessionFormat = (typeof sessionFormats)[number]

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
