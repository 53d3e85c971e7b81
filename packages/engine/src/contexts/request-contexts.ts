import {
  agentParamsSchema,
  momentMs,
  notFound,
  parse,
  type ReplyName,
  type RequestContext,
  type RequestContextsQuery,
  replyNameSchema,
  requestContextsQuerySchema,
} from '@heddle/contracts'
import { itemKey, roundScore, threadIdOf } from '@heddle/core'
import { listRequestContexts, loadMessage, loadRequestContext, type RequestContextRow } from '@heddle/store'
import { loadAgentOr } from '../items/items.js'
import { findInProject } from '../recall/resolve-reference.js'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'

/**
 * The request context of a reply: which items its context showed and why, and the sizes of its sections.
 *
 * @throws PermanentError `VALIDATION_ERROR`; `NOT_FOUND` without the message, or if it answers no recorded context;
 *   `AMBIGUOUS_REFERENCE` without a thread, if several have such a message
 */
export async function requestContextOf(
  { store, projectId, project }: EngineContext,
  given: ReplyName,
): Promise<RequestContext> {
  const { thread, message: name } = parse(replyNameSchema, given, 'message')
  const code = name.startsWith(REFERENCE_START) ? name.slice(REFERENCE_START.length) : null
  return await store.inProject(projectId, async (tx) => {
    const by = code === null ? { id: name } : { code }
    const threadId =
      thread === undefined ? (await findInProject(tx, by, project)).thread.threadId : threadIdOf(projectId, thread)
    const message = await loadMessage(tx, { threadId, ...by })
    if (message === null) throw notFound('message', name, 'see `heddle threads history`')
    const { contextId } = message
    if (contextId === null) throw notFound('request context', name, 'the message was appended without a contextId')
    const row = await loadRequestContext(tx, { threadId, contextId })
    if (row === null) throw notFound('request context', name, `context ${contextId} was not stored with this thread`)
    return { ...toRequestContext(row), message: message.id }
  })
}

const REFERENCE_START = 'msg-'
/** Records of a page; each has at most some hundred items. */
const PAGE_RECORDS = 200

/**
 * The request contexts of all replies of an agent as JSON lines, read page by page, so that an export of any length needs
 * little memory.
 *
 * @throws PermanentError `VALIDATION_ERROR`; `NOT_FOUND` without the agent
 */
export async function* exportRequestContexts(
  { store, projectId, clock }: EngineContext,
  agent: string,
  query: RequestContextsQuery = {},
): AsyncGenerator<string> {
  parse(agentParamsSchema, { agent }, 'agent')
  const { since } = parse(requestContextsQuerySchema, query, 'options')
  const sinceMs = since === undefined ? null : momentMs(since, clock.nowMs())
  const { agentId } = await store.inProject(projectId, (tx) => loadAgentOr(tx, agent))
  let records = 0
  for (let after: RequestContextRow | null = null; ; ) {
    const last: RequestContextRow | null = after
    const page: RequestContextRow[] = await store.inProject(projectId, (tx) =>
      listRequestContexts(tx, { agentId, sinceMs, limit: PAGE_RECORDS, after: last }),
    )
    for (const row of page) yield `${JSON.stringify({ type: 'requestContext', ...toRequestContext(row) })}\n`
    records += page.length
    after = page.at(-1) ?? null
    if (page.length < PAGE_RECORDS) break
  }
  yield `${JSON.stringify({ type: 'end', records })}\n`
}

function toRequestContext(row: RequestContextRow): RequestContext {
  const { contextId, threadName, agentName, messageId, builtAtMs, agentVersion, budget, tokensUsed, sections } = row
  return {
    context: contextId,
    thread: threadName,
    agent: agentName,
    message: messageId,
    builtAt: isoTime(builtAtMs),
    agentVersion,
    budget,
    tokensUsed,
    sections: Object.entries(sections ?? {})
      .map(([name, [count, tokens]]) => ({ name, count, tokens }))
      .filter(({ count, tokens }) => count + tokens > 0),
    items: row.items.map(({ score, serverName, type, name, ...item }) => ({
      ...itemKey({ type, name, serverName }),
      ...item,
      ...(score !== null && { similarityScore: roundScore(score) }),
    })),
  }
}
