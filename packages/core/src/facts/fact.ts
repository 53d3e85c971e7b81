import type { FactKind } from '@heddle/contracts'

/** The version of the rules: facts of another version are other facts. */
export const FACT_RULES = 'rules-1'

/** A statement of a sentence, as the rules read it. */
export interface FactDraft {
  readonly subject: string
  readonly predicate: string
  readonly object: string
  readonly kind: FactKind
  /** Whether the object is denied: "I have never used Redis". */
  readonly isNegated: boolean
  /** Whether a later value of the same subject and predicate replaces it. */
  readonly isSingle: boolean
  /** The sentence, word for word. */
  readonly statement: string
  readonly confidence: number
}

/** A fact that was read from a message, as it is stored. */
export interface ExtractedFact extends FactDraft {
  /** Equal whenever the same version of the extractor reads it from the same message again. */
  readonly id: string
  /** The time of its message. */
  readonly validFromMs: number
  readonly validToMs: null
  readonly sources: readonly string[]
}

/** A stored fact, as far as the rules need it. */
export interface Fact extends Omit<FactDraft, 'confidence' | 'kind'> {
  readonly id: string
  /** The agent or its thread: facts of one scope never replace those of another. */
  readonly scope: string
  readonly validFromMs: number
  /** The end that a person gave; null without one. */
  readonly validToMs: number | null
  readonly recordedAtMs: number
  /** The fact that a person put in its place; null if nobody did. */
  readonly correctedBy: string | null
  readonly retractedAtMs: number | null
}
