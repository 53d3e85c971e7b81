import type { ItemKey } from '@heddle/contracts'
import { LRUCache } from 'lru-cache'
import { v5 } from 'uuid'

/**
 * Ids of projects, agents and threads are derived from their names, so every process finds a row without a query, and
 * ten processes that create the same thread at once agree on its id. An id once derived from a name is never given to
 * another name.
 */
const NAMESPACE = '6f1c2f0e-52a5-4f0e-8c5e-5d0d6b1c9a10'

/** Means "no project" where a row needs one, such as a dead letter that could not be read. */
export const NIL_ID = '00000000-0000-0000-0000-000000000000'

export function projectIdOf(name: string): string {
  return v5(name, NAMESPACE)
}

export function agentIdOf(projectId: string, name: string): string {
  return derived('agent', projectId, name)
}

/** The thread's id does not depend on its agent. */
export function threadIdOf(projectId: string, name: string): string {
  return derived('thread', projectId, name)
}

/** Cache of derived ids: the same few threads are written to repeatedly, and hashing is slow. */
const derivedIds = new LRUCache<string, string>({ max: 20_000 })

function derived(kind: 'agent' | 'thread', projectId: string, name: string): string {
  const key = `${projectId} ${kind} ${name}`
  const known = derivedIds.get(key)
  if (known !== undefined) return known
  const id = v5(`${kind} ${name}`, projectId)
  derivedIds.set(key, id)
  return id
}

/**
 * The id of an imported message, derived from the source's own id or from its content and position
 * (docs/design.md#order).
 */
export function importedMessageId(threadId: string, identity: string): string {
  return v5(`message ${identity}`, threadId)
}

/** The id of an imported iteration without one of its own, derived from its content and position. */
export function importedIterationId(threadId: string, identity: string): string {
  return v5(`iteration ${identity}`, threadId)
}

/** The id of a fact that was read from a message: the same rules read the same fact again under the same id. */
export function extractedFactId(
  threadId: string,
  messageId: string,
  { extractor, subject, predicate, object, isNegated }: ExtractedFact,
): string {
  return v5(`fact ${JSON.stringify([extractor, messageId, subject, predicate, object, isNegated])}`, threadId)
}

interface ExtractedFact {
  readonly extractor: string
  readonly subject: string
  readonly predicate: string
  readonly object: string
  readonly isNegated: boolean
}

/** The id of an agent's item. An item that is removed and added again under the same name keeps its id. */
export function itemIdOf(agentId: string, { type, serverName = '', name }: ItemKey): string {
  return v5(`item ${JSON.stringify([type, serverName, name])}`, agentId)
}
