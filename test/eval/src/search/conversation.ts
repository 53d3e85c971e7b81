import type { GivenThread } from '../pipeline.js'

/** The kinds of conversations that search is measured on. */
export const conversationKinds = ['locomo', 'beam', 'coding'] as const
export type ConversationKind = (typeof conversationKinds)[number]

/** A recorded conversation of one agent, with questions about it. */
export interface Conversation {
  readonly kind: ConversationKind
  readonly agent: string
  readonly threads: readonly GivenThread[]
  readonly questions: readonly Question[]
}

export interface Question {
  readonly text: string
  /** The kind of question: a category of LoCoMo, an ability of BEAM, an origin of a question about a session. */
  readonly ability: string
  /** The source ids of the messages that answer it. */
  readonly evidence: ReadonlySet<string>
  /** Two statements about one thing, of which the later one replaces the earlier. */
  readonly update?: { readonly earlier: ReadonlySet<string>; readonly later: ReadonlySet<string> }
  /** The question was asked before this message, in the order of its thread; later ones are no results. */
  readonly before?: { readonly thread: string; readonly index: number }
}
