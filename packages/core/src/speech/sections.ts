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
  /** Share of the tokens that is the section's own before the rest is given to whatever weighs most. */
  readonly share: number
  /** Headings of other summaries that mean the same. */
  readonly like: RegExp
}

/** The parts of a summary, in the order in which it shows them. */
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
  // Lines about files and commands share what is left when the others have theirs.
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
  // What is searched for, not read.
  { name: 'names', heading: 'Identifiers', share: 0, like: /identifier|names/i },
]

/** One line that a summary may hold. */
export interface Candidate {
  readonly section: SectionName
  readonly text: string
  /** Weight; the higher, the sooner it is taken. */
  readonly score: number
  /** Place in the conversation; lines are shown in this order. Lines of an earlier summary come first. */
  readonly place: number
  readonly reference: string
  /** How often it was said; once where it is missing. */
  readonly times?: number
}
