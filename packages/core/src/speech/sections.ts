export type SectionName =
  | 'goal'
  | 'requests'
  | 'decisions'
  | 'state'
  | 'files'
  | 'commands'
  | 'errors'
  | 'facts'
  | 'questions'
  | 'next'
  | 'names'

export interface Section {
  readonly name: SectionName
  readonly heading: string
  /** Share of the tokens reserved for the section; the rest goes to the weightiest lines. */
  readonly share: number
  /** Headings of other summaries with the same meaning. */
  readonly like: RegExp
}

/** The sections of a summary, in order. */
export const sections: readonly Section[] = [
  { name: 'goal', heading: 'Goal', share: 0.12, like: /goal|intent|objective|purpose/i },
  {
    name: 'requests',
    heading: 'Requests and requirements',
    share: 0.18,
    like: /request|requirement|task|constraint|user messages/i,
  },
  { name: 'decisions', heading: 'Decisions', share: 0.08, like: /decision|chose|choice|approach|plan|commitment/i },
  { name: 'state', heading: 'Current state', share: 0.08, like: /state|status|progress|current|done|completed/i },
  // Lines about files and commands share what the others leave.
  { name: 'files', heading: 'Files', share: 0, like: /file|code section|artifact/i },
  { name: 'commands', heading: 'Commands and results', share: 0, like: /command|action|tool|search/i },
  {
    name: 'errors',
    heading: 'Errors and their resolution',
    share: 0.08,
    like: /error|problem|fix|issue|bug|failure/i,
  },
  { name: 'facts', heading: 'Findings', share: 0.06, like: /fact|finding|knowledge|concept|context|detail|learn/i },
  { name: 'questions', heading: 'Open questions', share: 0.04, like: /question|unclear|waiting/i },
  { name: 'next', heading: 'Next steps', share: 0.06, like: /next|pending|todo|to do|open|remaining|follow/i },
  // Names are searched for, not read.
  { name: 'names', heading: 'Identifiers', share: 0, like: /identifier|names/i },
]

/** A candidate line of a summary. */
export interface Candidate {
  readonly section: SectionName
  readonly text: string
  /** Weight; higher ones are chosen first. */
  readonly score: number
  /** Position in the conversation, which is the order of lines. Lines of an earlier summary come first. */
  readonly place: number
  readonly reference: string
  /** Number of occurrences; default 1. */
  readonly times?: number
}
