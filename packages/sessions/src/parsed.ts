import type { DraftMessage, MessageDraft } from '@heddle/client/forms'

export const sessionFormats = [
  'heddle',
  'claude-code',
  'codex',
  'opencode',
  'gemini-cli',
  'continue',
  'cursor',
  'openai',
  'anthropic',
  'swe-agent',
  'langsmith',
  'langfuse',
  'open-telemetry',
] as const
export type SessionFormat = (typeof sessionFormats)[number]

export interface ParsedMessage {
  /** The UUID that the file gives to the message as its own; null if the id is derived from `identity`. */
  id: string | null
  /** Unique in its thread and the same each time the file is read: the source's own id, or position and content hash. */
  identity: string
  input: MessageDraft
}

export interface ParsedThread {
  /** Distinguishes the names of the threads of one file; null for a file's main or only thread. */
  suffix: string | null
  messages: ParsedMessage[]
  toolCalls: number
  toolResults: number
}

export interface ParsedFile {
  format: SessionFormat
  threads: ParsedThread[]
  /** Records that are not messages, by kind: `{ "system/turn_duration": 16, "unfinished last line": 1 }`. */
  skipped: Record<string, number>
}

/** A message, and the number of its thread in the file, by order of first occurrence. */
export interface Draft {
  thread: number
  message: DraftMessage
}

/** Reads the messages of a format, from the beginning of a file to its end. */
export interface Reading {
  drafts: Iterable<Draft>
  /** Distinguishes the name of a thread; valid after everything was read. */
  suffixOf(thread: number): string | null
}

export interface ReadingOptions {
  /** Whether any entry of the file is a conversation itself. */
  holdsLists: boolean
  /** Counts records that are not messages, by kind. */
  skipped: Map<string, number>
}
