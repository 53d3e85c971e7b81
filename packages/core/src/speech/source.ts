import type { Role, SummaryPurpose, ToolCall } from '@heddle/contracts'

/** A message as a summarizer reads it: plain text, calls in words (`[called name arguments]` at its end). */
export interface SummarySource {
  /** The reference of the message, `msg-xxxxxxxx`, or empty. */
  readonly reference: string
  readonly role: Role
  readonly text: string
  /** Whether the text begins with a heading of its own, in place of its role and reference. */
  readonly hasHeading?: boolean
  readonly toolName: string | null
  /** The structured calls; if they are missing, those in the text count. */
  readonly calls?: readonly ToolCall[]
  readonly isError: boolean
  readonly pinned: boolean
  readonly orderedAtMs: number
}

/** The input of a summary. */
export interface SummaryRequest {
  readonly purpose: SummaryPurpose
  /** In conversation order. */
  readonly messages: readonly SummarySource[]
  /** The summary of earlier messages, whose essence the new one carries on. */
  readonly previousSummary: string | null
  readonly tokensMax: number
}
