import type { Receipt, ReceiptEntry } from '@heddle/contracts'
import type { NeutralMessage } from '../formats/neutral-message.js'
import type { TooSmall } from '../strategies/strategy.js'
import type { FixedSection } from './section.js'

/** The variable part of a context, between the fixed sections: the history of a conversation or the prompt of a run. */
export interface Body {
  readonly messages: readonly NeutralMessage[]
  readonly tokens: number
  readonly summaryUsed: boolean
  readonly entries: readonly ReceiptEntry[]
  /** Ids of the messages that it shows. */
  readonly shown: ReadonlySet<string>
  readonly stateId: string | null
  /** The model or method that wrote the summary; undefined without a summary. */
  readonly summarizer?: string | undefined
  /** Notes for the receipt about deviations. */
  readonly notes: readonly string[]
}

/** The differences between a context of a conversation and one of a run. */
export interface BodyPlan {
  readonly fixedSections: readonly FixedSection[]
  /** Receipt sections of the body, in order. */
  readonly sections: readonly string[]
  /** Whether the next request repeats the messages of the body, so that they belong to the stable prefix. */
  readonly isStable: boolean
  readonly facts: Pick<Receipt, 'fill' | 'iterations'>
  /** Notes for the receipt about what the window and the last clear hide. */
  readonly hiddenNotes: readonly string[]
  fit(roomTokens: number): Body | TooSmall
  /** @returns tokens that are enough, for the error message, if `neededTokens` of the last `fit` is only a lower bound */
  enough?(neededTokens: number): number
}
