import type { ContextPatch } from '@heddle/core'
import { type Answer, isAnswerWithin } from '@heddle/queue'
import { digestPatched, digestResult, type PackedResult, packJson } from '@heddle/store'

/** A built context as it is sent and stored. */
export interface Outgoing {
  /** Answer sent with the reply. */
  readonly answer: Answer | undefined
  readonly packed: PackedResult
}

interface Forms {
  /** Not made if only its differences are sent. */
  json(): string
  /** The differences from a context that the requester has; null without one. */
  readonly patch: (() => ContextPatch) | null
}

interface Limits {
  /** Largest answer that the reply can carry; 0 for no answer. */
  readonly answerBytesMax: number
  /** Whether later requests may be answered with its stored bytes. */
  readonly isFoundAgain: boolean
}

/**
 * Encodes a context. It is sent as its differences if the requester has an earlier one; else uncompressed if the reply
 * can carry it, because compressing takes longer than sending. A context sent with the reply is stored as lines only, and
 * rebuilt for later reads.
 */
export async function outgoing(forms: Forms, { answerBytesMax, isFoundAgain }: Limits): Promise<Outgoing> {
  if (forms.patch !== null && answerBytesMax > 0 && !isFoundAgain) {
    const patch = forms.patch()
    const answer = JSON.stringify({ patch })
    if (isAnswerWithin(answer, answerBytesMax)) return { answer, packed: digestPatched(patch.digest) }
  }
  const json = forms.json()
  const isAsItIs = isAnswerWithin(json, answerBytesMax)
  if (isAsItIs && !isFoundAgain) return { answer: json, packed: digestResult(json) }
  const packed = await packJson(json)
  if (isAsItIs) return { answer: json, packed }
  if (!isAnswerWithin(packed.bytes, answerBytesMax)) return { answer: undefined, packed }
  return { answer: packed.bytes, packed: isFoundAgain ? packed : { ...packed, bytes: null } }
}
