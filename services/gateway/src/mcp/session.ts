import { randomUUID } from 'node:crypto'
import type { RemoteClient } from '@heddle/client/http'
import {
  nameSchema,
  PermanentError,
  parse,
  type RecallRequest,
  type RecallResult,
  type Rights,
} from '@heddle/contracts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { checkPermission } from '../admission/access.js'

/** The state that the server keeps between the calls of one client. */
export interface McpSession {
  /** The thread that a call named last; a reference without a thread is searched there first. */
  thread?: string | undefined
}

/** Sessions that are remembered; with more, the one that was used longest ago is forgotten. */
const SESSIONS_MAX = 10_000
const HEADER = 'mcp-session-id'
/** Names the thread of a client that was configured for one. */
const THREAD_HEADER = 'x-heddle-thread'
/** Ids of clients are keys of a map, so they are limited; those made here are UUIDs. */
const ID = /^[\x21-\x7e]{1,100}$/

/**
 * The sessions of MCP over HTTP. They hold a hint and no state that a call needs: a session that another gateway began, or
 * that was forgotten, starts empty. A session belongs to one project, whoever else may know its id.
 */
export class McpSessions {
  readonly #sessions = new LRUCache<string, McpSession>({ max: SESSIONS_MAX })

  /** The session of a request; one that begins a connection gets an id, which its client then sends with each request. */
  of(request: FastifyRequest, reply: FastifyReply, project: string): McpSession {
    const session = this.#sessionOf(request, reply, project)
    const preset = request.headers[THREAD_HEADER]
    if (typeof preset === 'string') session.thread ??= parse(nameSchema, preset, THREAD_HEADER)
    return session
  }

  #sessionOf(request: FastifyRequest, reply: FastifyReply, project: string): McpSession {
    if (isInitialize(request.body)) {
      const id = randomUUID()
      reply.header(HEADER, id)
      return this.#find(project, id)
    }
    const id = request.headers[HEADER]
    return typeof id === 'string' && ID.test(id) ? this.#find(project, id) : {}
  }

  #find(project: string, id: string): McpSession {
    const key = JSON.stringify([project, id])
    const session = this.#sessions.get(key) ?? {}
    this.#sessions.set(key, session)
    return session
  }
}

function isInitialize(body: unknown): boolean {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body]
  return messages.some((message) => {
    return typeof message === 'object' && message !== null && 'method' in message && message.method === 'initialize'
  })
}

/**
 * Recalls as a model asks, with references as its context shows them: a short one is searched in the thread of the session,
 * then in the whole project.
 */
export async function recallIn(
  { thread }: McpSession,
  request: RecallRequest,
  client: RemoteClient,
): Promise<RecallResult> {
  if (thread === undefined || request.thread !== undefined) return await client.recall(request)
  try {
    return await client.recall({ ...request, thread })
  } catch (error) {
    if (!(error instanceof PermanentError && error.code === 'NOT_FOUND')) throw error
    return await client.recall(request)
  }
}

/** The thread and the id of the message that a reference means, as {@link recallIn} resolves it. */
export async function placeOf(
  { ref, thread }: { readonly ref: string; readonly thread?: string | undefined },
  { session, client, rights }: { readonly session: McpSession; readonly client: RemoteClient; readonly rights: Rights },
): Promise<{ thread: string; messageId: string }> {
  checkPermission(rights, 'read')
  const found = await recallIn(session, { ref, thread, maxTokens: 1 }, client)
  return { thread: found.thread, messageId: found.messageId }
}
