import type { IncomingHttpHeaders } from 'node:http'
import type { Protocol, ProviderRequest, RequestReader } from '@heddle/core'
import type { Conversation } from '../conversation/conversations.js'
import { type Finding, findConversation } from '../conversation/find-conversation.js'
import { agentNamedIn, nameOf, sessionOf, threadNamedIn } from '../conversation/session.js'

/** A request with its conversation. */
export interface Understood {
  readonly conversation: Conversation
  readonly request: ProviderRequest
  readonly body: Buffer
}

export interface Understanding extends Finding {
  readonly reader: RequestReader
}

export interface ReceivedRequest {
  readonly protocol: Protocol
  readonly project: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** The thread that its contents name, if its caller does not. */
  readonly thread?: string | null
}

/** Finds the conversation of a request, see {@link findConversation}; null if the body is not understood. */
export async function understand(finding: Understanding, received: ReceivedRequest): Promise<Understood | null> {
  const { protocol, project, headers, body } = received
  const request = finding.reader.read(protocol, body)
  if (request === null || request.entries.length === 0) return null
  const thread = threadNamedIn(headers) ?? nameOf(received.thread)
  const session = thread === null ? sessionOf(headers, request, body) : null
  const agent = agentNamedIn(headers)
  const conversation = await findConversation(finding, { project, agent, thread, session, request, body })
  finding.conversations.noteSession(conversation, session)
  return { conversation, request, body }
}
