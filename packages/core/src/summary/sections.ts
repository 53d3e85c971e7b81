export type SectionName = 'requests' | 'decisions' | 'facts' | 'files' | 'commands' | 'errors' | 'questions' | 'state'

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
  {
    name: 'requests',
    heading: 'Goal and requests',
    share: 0.26,
    like: /goal|request|task|intent|requirement|objective|constraint/i,
  },
  { name: 'decisions', heading: 'Decisions', share: 0.14, like: /decision|chose|choice|approach|plan|commitment/i },
  { name: 'facts', heading: 'Facts', share: 0.12, like: /fact|finding|knowledge|concept|context|detail|learn/i },
  { name: 'files', heading: 'Files', share: 0.12, like: /file|code section|artifact/i },
  { name: 'commands', heading: 'Commands and actions', share: 0.07, like: /command|action|tool/i },
  { name: 'errors', heading: 'Errors and their resolution', share: 0.1, like: /error|problem|fix|issue|bug|failure/i },
  {
    name: 'questions',
    heading: 'Open questions',
    share: 0.05,
    like: /question|pending|open|todo|next|remaining|follow/i,
  },
  { name: 'state', heading: 'Current state', share: 0.14, like: /state|status|progress|current|done|completed/i },
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
