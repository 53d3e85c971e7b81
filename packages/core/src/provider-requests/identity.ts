import { hash } from 'node:crypto'
import type { ToolCall } from '@heddle/contracts'
import { v5 } from 'uuid'
import { shortCode } from '../conversation/codes.js'
import { messageReference } from '../conversation/references.js'

/** The fields of a message that distinguish it from others. */
export interface Identified {
  readonly role: string
  readonly content: string
  readonly toolCalls?: readonly Pick<ToolCall, 'id'>[] | undefined
  readonly toolCallId?: string | undefined
}

/**
 * The identity of a message in its conversation: the same in a reply as in each request that repeats it, whatever a client
 * leaves out of it, such as reasoning. Calls and results have ids; a text is identified by its words and by the number of
 * equal ones before it.
 *
 * @param occurrence equal entries before it in the request
 */
export function messageIdentity({ role, content, toolCalls = [], toolCallId }: Identified, occurrence: number): string {
  if (toolCallId !== undefined) return `result ${toolCallId}`
  if (toolCalls.length > 0) return `calls ${toolCalls.map(({ id }) => id).join(' ')}`
  return `${role} ${occurrence} ${hash('sha256', content, 'base64url')}`
}

/** The id under which a message of a provider's conversation is stored. */
export function proxiedMessageId(threadId: string, identity: string): string {
  return v5(`proxied ${identity}`, threadId)
}

/** The reference under which the stored result of a call is recalled: `msg-xxxxxxxx`. */
export function proxiedResultReference(threadId: string, callId: string): string {
  return messageReference(shortCode(proxiedMessageId(threadId, `result ${callId}`)))
}
