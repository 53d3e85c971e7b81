import { type Answer, isAnswerWithin } from '@heddle/queue'
import { type PackedResult, packJson } from '@heddle/store'

/** A built context as it is sent and stored. */
export interface Outgoing {
  /** Answer sent with the reply. */
  readonly answer: Answer | undefined
  readonly packed: PackedResult
}

interface Encoded {
  /** Not made if only its differences are sent. */
  readonly json: () => string
  readonly digest: Uint8Array
}

interface Limits {
  /** Largest answer that the reply can carry; 0 for no answer. */
  readonly answerBytesMax: number
  /** Whether later requests may be answered with its stored bytes. */
  readonly isFoundAgain: boolean
  /** The context as its differences from one that the requester has, as JSON; null without one. */
  readonly patch: string | null
}

/**
 * Encodes a context. It is sent as its differences if the requester has an earlier one; else uncompressed if the reply
 * can carry it, because compressing takes longer than sending. A context sent with the reply is stored as lines only, and
 * rebuilt for later reads.
 */
export async function outgoing(
  { json, digest }: Encoded,
  { answerBytesMax, isFoundAgain, patch }: Limits,
): Promise<Outgoing> {
  if (patch !== null && !isFoundAgain && isAnswerWithin(patch, answerBytesMax))
    return { answer: patch, packed: { bytes: null, digest } }
  const whole = json()
  const isAsItIs = isAnswerWithin(whole, answerBytesMax)
  if (isAsItIs && !isFoundAgain) return { answer: whole, packed: { bytes: null, digest } }
  const bytes = await packJson(whole)
  if (isAsItIs) return { answer: whole, packed: { bytes, digest } }
  if (!isAnswerWithin(bytes, answerBytesMax)) return { answer: undefined, packed: { bytes, digest } }
  return { answer: bytes, packed: { bytes: isFoundAgain ? bytes : null, digest } }
}
