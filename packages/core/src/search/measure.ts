/**
 * The properties of one passage that contains a term, as one byte: 4 bits for the length of its message, one for a reply
 * of a model, one for a text about a time, 2 for the frequency of the term.
 */
export interface Measure {
  /** Terms of the whole message. */
  readonly length: number
  /** Occurrences of the term in the passage. */
  readonly times: number
  /** Whether a model wrote it: it repeats much of what people said and tools showed. */
  readonly isReply: boolean
  /** Whether the passage names a time. */
  readonly isDated: boolean
}

/** Lengths are stored as classes, each this much longer than the one before: the last includes all over 2,800 terms. */
const LENGTH_STEP = Math.log(1.7)
const LENGTH_CLASS_MAX = 15
/** The lowest frequency of each class; the last class includes all higher ones, which score almost the same. */
const TIMES = [1, 2, 3, 5] as const

export function packMeasure({ length, times, isReply, isDated }: Measure): number {
  const lengthClass = Math.min(LENGTH_CLASS_MAX, Math.round(Math.log(Math.max(1, length)) / LENGTH_STEP))
  let timesClass = 0
  while (timesClass + 1 < TIMES.length && (TIMES[timesClass + 1] ?? 0) <= times) timesClass++
  return (lengthClass << 4) | (isReply ? 8 : 0) | (isDated ? 4 : 0) | timesClass
}

const lengths = Array.from({ length: LENGTH_CLASS_MAX + 1 }, (_, index) => Math.exp(index * LENGTH_STEP))

export function lengthOf(measure: number): number {
  return lengths[measure >> 4] ?? 1
}

export function timesOf(measure: number): number {
  return TIMES[measure & 3] ?? 1
}

export function isReply(measure: number): boolean {
  return (measure & 8) !== 0
}

export function isDated(measure: number): boolean {
  return (measure & 4) !== 0
}

const OLD_LENGTH_STEP = Math.log(1.4)
const OLD_TIMES = [1, 2, 3, 4, 6, 9, 14, 20] as const

/** The byte of a message in lists that were written before messages had passages. */
export function unpackOldMeasure(byte: number): Measure {
  return {
    length: Math.exp((byte >> 3) * OLD_LENGTH_STEP),
    times: OLD_TIMES[byte & 7] ?? 1,
    isReply: false,
    isDated: false,
  }
}
