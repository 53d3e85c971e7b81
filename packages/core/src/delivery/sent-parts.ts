import type { FormatName, StoredPart } from '@heddle/contracts'
import type { Message } from '../conversation/message.js'
import { takesPart } from '../formats/part-delivery.js'
import { partLine } from '../parts/line.js'
import { partTokens } from '../parts/tokens.js'
import { estimateTokens } from '../tokens/tokens.js'

/** Parts with the fields of their message that decide which of them a format delivers. */
export type PartsOf = Pick<Message, 'role' | 'isError'> & { readonly parts: readonly StoredPart[] }

/** Has the length of any part's reference. */
const REFERENCE = 'msg-00000000:part-1'

/** Tokens of a message's parts as a format sends them: by its provider's rule, or as the line that names a part. */
export function partsTokensIn(format: FormatName, { role, isError, parts }: PartsOf): number {
  const speaker = role === 'user' || role === 'tool_result' ? role : 'assistant'
  const message = { role: speaker, content: '', isError } as const
  return parts.reduce((sum, part) => {
    const tokens = takesPart(format, message, part)
      ? partTokens(part, format)
      : estimateTokens(partLine(part, REFERENCE)) + LINE_MARGIN_TOKENS
    return sum + tokens
  }, 0)
}

/** References and numbers take more tokens than words of the same length. */
const LINE_MARGIN_TOKENS = 12
