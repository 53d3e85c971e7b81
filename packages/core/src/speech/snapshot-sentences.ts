import { proseSentences } from './sentences.js'

/** Sentences of a snapshot's summary (docs/snapshots.md#saving). */
export const snapshotSentences = { min: 2, max: 4 } as const

/** Why a text is too short or too long for the summary of a snapshot; null if it is neither. */
export function sentencesFault(summary: string): string | null {
  const { min, max } = snapshotSentences
  const { length } = proseSentences(summary)
  if (length >= min && length <= max) return null
  return `it has ${length} sentence${length === 1 ? '' : 's'}, and the summary of a snapshot has ${min} to ${max}`
}
