import { type Answer, isAnswerWithin } from '@heddle/queue'
import { digestResult, type PackedResult, packJson } from '@heddle/store'

/** A built context as it is sent and stored. */
export interface Outgoing {
  /** Answer sent with the reply. */
  readonly answer: Answer | undefined
  readonly packed: PackedResult
}

/**
 * Encodes a context. It is sent uncompressed if the reply can carry it, because compressing takes longer than sending. A
 * context sent with the reply is stored as lines only, and rebuilt for later reads.
 *
 * @param answerBytesMax largest answer that the reply can carry; 0 for no answer
 * @param isFoundAgain whether later requests may be answered with its stored bytes
 */
export async function outgoing(
  json: string,
  { answerBytesMax, isFoundAgain }: { readonly answerBytesMax: number; readonly isFoundAgain: boolean },
): Promise<Outgoing> {
  const isAsItIs = isAnswerWithin(json, answerBytesMax)
  if (isAsItIs && !isFoundAgain) return { answer: json, packed: digestResult(json) }
  const packed = await packJson(json)
  if (isAsItIs) return { answer: json, packed }
  if (!isAnswerWithin(packed.bytes, answerBytesMax)) return { answer: undefined, packed }
  return { answer: packed.bytes, packed: isFoundAgain ? packed : { ...packed, bytes: null } }
}
