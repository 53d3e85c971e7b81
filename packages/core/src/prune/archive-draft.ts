import type { ToolKind } from '@heddle/contracts'

/** The archive entry of a pruned message or call, for recall. */
export interface ArchiveDraft {
  readonly messageId: string
  /** The call in its message, such as `tool-1`; empty for the message. */
  readonly location: string
  readonly contentType: ToolKind | 'assistant'
  readonly summary: string
  /** The message's content byte for byte; for a removed message that is only a call, its calls as JSON. */
  readonly content: string
  readonly filePaths: readonly string[]
  readonly toolName: string | null
  readonly tokens: number
}

/** Everything that a decision moves to the archive: the message, its calls, or both. */
export function archivesOf({
  archive,
  calls,
}: {
  readonly archive: ArchiveDraft
  readonly calls: readonly { readonly archive: ArchiveDraft }[]
}): ArchiveDraft[] {
  return [...new Set([archive, ...calls.map((call) => call.archive)])]
}
