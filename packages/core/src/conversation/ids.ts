import type { ItemKey } from '@heddle/contracts'
import { LRUCache } from 'lru-cache'
import { v5 } from 'uuid'

/**
 * Ids of projects, agents and threads are derived from their names: every process finds a row without a look-up, and ten
 * processes that create the same thread at once agree on it. An id that a name gave once is never given to another name.
 */
const NAMESPACE = '6f1c2f0e-52a5-4f0e-8c5e-5d0d6b1c9a10'

/** Stands for "no project" where a row must name one, such as a dead letter that could not be read. */
export const NIL_ID = '00000000-0000-0000-0000-000000000000'

/** The id of the project of that name. */
export function projectIdOf(name: string): string {
  return v5(name, NAMESPACE)
}

/** The id of a project's agent of that name. */
export function agentIdOf(projectId: string, name: string): string {
  return derived('agent', projectId, name)
}

/** The id of a project's thread of that name, whichever agent it belongs to. */
export function threadIdOf(projectId: string, name: string): string {
  return derived('thread', projectId, name)
}

/** Ids that were derived before, by project and name: the same few threads are written to again and again, and hashing takes its time. */
const derivedIds = new LRUCache<string, string>({ max: 20_000 })

function derived(kind: 'agent' | 'thread', projectId: string, name: string): string {
  const key = `${projectId} ${kind} ${name}`
  const known = derivedIds.get(key)
  if (known !== undefined) return known
  const id = v5(`${kind} ${name}`, projectId)
  derivedIds.set(key, id)
  return id
}

/** The id of a message from elsewhere, from the source's own id or from its content and position (docs/design.md#order). */
export function importedMessageId(threadId: string, identity: string): string {
  return v5(`message ${identity}`, threadId)
}

/** The id of an iteration from a file that gives none: from its content and position. */
export function importedIterationId(threadId: string, identity: string): string {
  return v5(`iteration ${identity}`, threadId)
}

/** The id of an agent's item: of a name that was taken away and is given again, the same. */
export function itemIdOf(agentId: string, { type, serverName = '', name }: ItemKey): string {
  return v5(`item ${JSON.stringify([type, serverName, name])}`, agentId)
}
