import type { ThinkingBlock } from '@heddle/contracts'

/**
 * A message's reasoning if it can be sent back, else an empty list. Signatures cover the reasoning of a message as a
 * whole, so one unsigned block makes all of it unusable: it is sent whole or not at all.
 */
export function wholeThinking({
  thinking,
}: {
  readonly thinking?: readonly ThinkingBlock[]
}): readonly ThinkingBlock[] {
  return thinking?.every(isSendable) ? thinking : []
}

function isSendable({ text, signature, redacted }: ThinkingBlock): boolean {
  if (redacted) return true
  return signature !== undefined && signature !== '' && text.isWellFormed()
}
