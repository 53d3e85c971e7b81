import { messageFingerprint, NIL_ID } from '@heddle/core'
import type { MessageDraft } from './parsed.js'

/** A hash of the fields that say what was said, so that reading more fields one day does not change it. */
export function saidHash({ role, content, toolCalls, toolCallId }: MessageDraft): string {
  return messageFingerprint({
    id: NIL_ID,
    role,
    content,
    ...(toolCalls !== undefined && { toolCalls }),
    ...(toolCallId !== undefined && { toolCallId }),
  })
}
