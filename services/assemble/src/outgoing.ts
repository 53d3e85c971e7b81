import { type Answer, answerBytes } from '@heddle/queue'
import { digestResult, type PackedResult, packJson } from '@heddle/store'

/** A built context on its ways out. */
export interface Outgoing {
  /** What its requester takes with the reply. */
  readonly answer: Answer | undefined
  readonly packed: PackedResult
}

/**
 * What goes out of a context: as it is where the reply can bring that, for to pack it takes longer than to send it. What the
 * reply brings is stored as lines alone: whoever reads it later has it made again.
 *
 * @param answerBytesMax what the reply can bring; 0 where nothing
 * @param isFoundAgain whether later requests may be answered by it, with the bytes that are stored
 */
export async function outgoing(
  json: string,
  { answerBytesMax, isFoundAgain }: { readonly answerBytesMax: number; readonly isFoundAgain: boolean },
): Promise<Outgoing> {
  const isAsItIs = answerBytes(json) <= answerBytesMax
  if (isAsItIs && !isFoundAgain) return { answer: json, packed: digestResult(json) }
  const packed = await packJson(json)
  if (isAsItIs) return { answer: json, packed }
  if (answerBytes(packed.bytes) > answerBytesMax) return { answer: undefined, packed }
  return { answer: packed.bytes, packed: isFoundAgain ? packed : { ...packed, bytes: null } }
}
