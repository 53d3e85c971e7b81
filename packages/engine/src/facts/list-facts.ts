import type { Page } from '@heddle/client/interface'
import {
  agentParamsSchema,
  type Fact,
  type FactListOptions,
  factListSchema,
  limits,
  notFound,
  parse,
} from '@heddle/contracts'
import { heldAt, rankFacts, threadIdOf } from '@heddle/core'
import { type FactRow, type FactSelection, listFacts as listRows, loadThread, type Tx } from '@heddle/store'
import { loadAgentOr } from '../items/items.js'
import { cursorOf, placeAt } from '../setup/cursors.js'
import type { EngineContext } from '../setup/options.js'
import { knownFact, loadStandings, viewFacts } from './fact-view.js'

const PLACE = /^(\d{1,16}) ([0-9a-f-]{36})$/

/**
 * The facts of an agent: a page of those recorded last, those that held at a moment, or those for a question.
 *
 * @throws PermanentError `NOT_FOUND` for an unknown agent or thread
 */
export async function listFacts(
  { store, projectId }: EngineContext,
  name: string,
  options: FactListOptions = {},
): Promise<Page<Fact>> {
  const { agent } = parse(agentParamsSchema, { agent: name }, 'agent')
  const { thread, subject, predicate, asOf, query, limit, cursor } = parse(factListSchema, options, 'options')
  return await store.inProject(
    projectId,
    async (tx) => {
      const { agentId } = await loadAgentOr(tx, agent)
      const threadId = thread === undefined ? undefined : await threadIdOr(tx, { projectId, thread })
      const asOfMs = asOf === undefined ? undefined : Date.parse(asOf)
      const selection = { agentId, threadId, subject, predicate, asOfMs }
      if (query !== undefined) return await answer(tx, { agent, selection, query, limit })
      const list = { kind: 'facts', ownerId: agentId } as const
      const place = placeAt(list, { cursor }, PLACE)
      const after = place === undefined ? undefined : { recordedAtMs: Number(place[1]), id: place[2] ?? '' }
      const rows = await listRows(tx, { ...selection, after, limit: limit + 1 })
      const page = rows.slice(0, limit)
      const last = rows.length > limit ? page.at(-1) : undefined
      const { items } = await heldOf(tx, { agent, selection, rows: page })
      const nextCursor = last === undefined ? null : cursorOf(list, `${last.recordedAtMs} ${last.id}`)
      return { items, nextCursor }
    },
    { snapshot: true },
  )
}

type Selection = Omit<FactSelection, 'limit' | 'after'>

async function threadIdOr(tx: Tx, { projectId, thread }: { projectId: string; thread: string }): Promise<string> {
  const threadId = threadIdOf(projectId, thread)
  if ((await loadThread(tx, { threadId })) === null) throw notFound('thread', thread, 'see `heddle threads list`')
  return threadId
}

/** The facts for a question, of those that were recorded last. */
async function answer(
  tx: Tx,
  { agent, selection, query, limit }: { agent: string; selection: Selection; query: string; limit: number },
): Promise<Page<Fact>> {
  const { agentId } = selection
  const rows = await listRows(tx, { ...selection, limit: limits.factsRankedMax })
  const standings = await loadStandings(tx, agentId, rows)
  const byId = new Map(heldRows(rows, selection, standings).map((row) => [row.id, row]))
  const known = [...byId.values()].filter(({ retractedAtMs, correctedBy }) => (retractedAtMs ?? correctedBy) === null)
  const ranked = rankFacts(query, known.map(knownFact), standings)
    .slice(0, limit)
    .flatMap(({ id }) => byId.get(id) ?? [])
  return { items: await viewFacts(tx, agent, { rows: ranked, standings }), nextCursor: null }
}

async function heldOf(
  tx: Tx,
  { agent, selection, rows }: { agent: string; selection: Selection; rows: readonly FactRow[] },
): Promise<{ items: Fact[] }> {
  const standings = await loadStandings(tx, selection.agentId, rows)
  const held = heldRows(rows, selection, standings)
  return { items: await viewFacts(tx, agent, { rows: held, standings }) }
}

function heldRows(
  rows: readonly FactRow[],
  { asOfMs }: Selection,
  standings: Awaited<ReturnType<typeof loadStandings>>,
): FactRow[] {
  if (asOfMs === undefined) return [...rows]
  return rows.filter((row) => {
    const standing = standings.get(row.id)
    return standing !== undefined && heldAt(knownFact(row), standing, asOfMs)
  })
}
