import { type AuditOptions, auditOptionsSchema, type MemoryAudit } from '@heddle/client/interface'
import { memoryFindings, mergeSettings, notFound, parse } from '@heddle/contracts'
import { type AuditedMessage, agentIdOf, auditMessages, referenceIn, toolCatalogOf } from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import { findAgentPlaces, loadAgent, loadMessagePage, loadReadArchive, loadThreadWindows } from '@heddle/store'
import { PLACE, positionAt, textOf } from '../messages/across-threads.js'
import { type CursorList, cursorOf, placeAt } from '../setup/cursors.js'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'

const REFERENCES_MAX = 10

/**
 * How much of the messages of an agent is of little use. A page with large messages has fewer of them.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`
 */
export async function auditMemory(
  { store, projectId, settings }: EngineContext,
  name: string,
  options: AuditOptions = {},
): Promise<MemoryAudit> {
  const { limit, ...page } = parse(auditOptionsSchema, options, 'audit')
  const agentId = agentIdOf(projectId, name)
  const list: CursorList = { kind: 'audit', ownerId: agentId }
  const after = positionAt(placeAt(list, page, PLACE))
  const { agent, messages, hasMore, threads, archive } = await store.inProject(
    projectId,
    async (tx) => {
      const found = await loadAgent(tx, { name })
      if (found === null) throw notFound('agent', name, 'see `heddle agents list`')
      const range = { sinceMs: null, untilMs: null }
      const places = await findAgentPlaces(tx, { agentId, after, limit: limit + 1, order: 'desc', ...range })
      const read = await loadMessagePage(tx, places, limit)
      const windows = await loadThreadWindows(tx, new Set(read.messages.map(({ place }) => place.threadId)))
      const ids = read.messages.map(({ place, message }) => ({ threadId: place.threadId, messageId: message.id }))
      return { ...read, agent: found, threads: windows, archive: await loadReadArchive(tx, ids) }
    },
    { snapshot: true },
  )
  const audited = messages.map(({ place, message }) => ({ threadId: place.threadId, message })).reverse()
  const catalog = toolCatalogOf(mergeSettings(settings, agent.settings).tools)
  const findings = await runCooperatively(auditMessages(audited, catalog))
  const shareOf = (count: number, all: number) => (all === 0 ? 0 : Math.round((10_000 * count) / all) / 10_000)
  const referenceOf = ({ threadId, message }: AuditedMessage) =>
    referenceIn(threads.get(threadId)?.name ?? '', message.code)
  const last = messages.at(-1)
  const [oldest, newest] = [audited[0], audited.at(-1)].map((one) => (one ? isoTime(one.message.orderedAtMs) : null))
  return {
    agent: name,
    messages: audited.length,
    tokens: tokensOf(audited),
    threads: threads.size,
    from: oldest ?? null,
    to: newest ?? null,
    findings: memoryFindings.map((kind) => {
      const own = findings.get(kind) ?? []
      return {
        kind,
        messages: own.length,
        tokens: tokensOf(own),
        share: shareOf(own.length, audited.length),
        references: own.slice(0, REFERENCES_MAX).map(referenceOf),
      }
    }),
    archived: { ...archive, share: shareOf(archive.neverRead, archive.messages) },
    nextCursor: hasMore && last !== undefined ? cursorOf(list, textOf(last.place)) : null,
  }
}

function tokensOf(messages: readonly AuditedMessage[]): number {
  return messages.reduce((sum, { message }) => sum + message.tokens, 0)
}
