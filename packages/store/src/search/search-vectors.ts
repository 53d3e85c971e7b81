import { documentFilter, hasRemadeVectors, type NearDocument, quantizeVector, type TextEmbedder } from '@heddle/core'
import { within } from '@heddle/runtime'
import { listAgents } from '../projects/agents.js'
import { loadModelCoverage } from '../vectors/vector-scopes.js'
import type { VectorComparison } from '../vectors/vector-search.js'
import type { QueryEmbedder, SearchGround, SearchParts } from './search-scope.js'

/** The result of a search by vectors. */
export interface VectorLeg {
  /** The nearest first. */
  readonly documents: readonly NearDocument[]
  /** The model of the vectors; null if vectors were not compared. */
  readonly model: string | null
  /** How they were compared; null if they were not. */
  readonly comparedBy: VectorComparison | null
  /** Why vectors were not, or only partly, used; null if all were. */
  readonly degraded: string | null
}

/** Agents whose vectors a search of the whole project compares at most. */
const AGENTS_MAX = 100

/**
 * The messages whose vectors are nearest to a query. It never fails: a search by words alone is better than none, and
 * `degraded` says why. A comparison that takes too long continues in the background, so that the next search finds the
 * vectors in memory.
 */
export async function searchVectors(
  parts: SearchParts,
  query: string,
  given: Pick<Comparison, 'isNeeded' | 'limit'> & {
    readonly ground: Promise<SearchGround>
    readonly timeoutMsMax: number
  },
): Promise<VectorLeg> {
  const { embedder } = parts
  if (embedder === null) return nothing('this client has no embedder')
  const controller = new AbortController()
  const ground = await given.ground
  const timeoutMs = Math.min(ground.settings.vectors.timeoutMs, given.timeoutMsMax)
  const compared = compare(parts, query, { ...given, embedder, ground, signal: controller.signal }).catch(
    (error: unknown) => {
      parts.log?.warn({ error }, 'search by vectors failed; result is ranked by words only')
      return nothing(`vectors failed: ${error instanceof Error ? error.message : String(error)}`)
    },
  )
  const late = () => {
    controller.abort(new Error('the search timed out'))
    return nothing(`vectors took longer than ${timeoutMs} ms`)
  }
  return await within(compared, { timeoutMs, late })
}

function nothing(degraded: string): VectorLeg {
  return { documents: [], model: null, comparedBy: null, degraded }
}

interface Comparison {
  readonly embedder: QueryEmbedder
  readonly ground: SearchGround
  /** Whether vectors of a model have any weight in this search. */
  readonly isNeeded: (model: string, ground: SearchGround) => boolean
  readonly limit: number
  readonly signal: AbortSignal
}

async function compare({ store, projectId }: SearchParts, query: string, given: Comparison): Promise<VectorLeg> {
  const { ground, limit, signal } = given
  const chosen = await given.embedder()
  if (chosen === null) return nothing('there is no embedder')
  if (!given.isNeeded(chosen.model, ground)) return { documents: [], model: null, comparedBy: null, degraded: null }
  const { agentIds, coverage, tooMany } = await store.inProject(projectId, async (tx) => {
    if (ground.agentId !== null) {
      const coverage = await loadModelCoverage(tx, { agentId: ground.agentId })
      return { agentIds: [ground.agentId], coverage, tooMany: null }
    }
    const agents = await listAgents(tx, { limit: AGENTS_MAX + 1 })
    const tooMany = agents.length > AGENTS_MAX ? `vectors of the first ${AGENTS_MAX} agents only` : null
    return { agentIds: agents.slice(0, AGENTS_MAX).map(({ agentId }) => agentId), coverage: [], tooMany }
  })
  const isBehind = behind(coverage, chosen.model)
  const embedder = isBehind === null ? chosen : await older(coverage, given.embedder)
  if (embedder === null) return nothing(isBehind ?? '')
  const { model } = embedder
  const degraded = isBehind === null ? tooMany : `the vectors of ${model} are used until then: ${isBehind}`
  const [vector] = await embedder.embed([query], signal)
  if (vector === undefined) throw new Error('the embedder gave no vector')
  const {
    documents,
    agentsLeftOut,
    by: comparedBy,
  } = await store.vectors.nearest({
    projectId,
    agentIds,
    model,
    query: quantizeVector(vector),
    // Messages that a fork shares are among those of other threads.
    thread: ground.forkId === null ? ground.query.only.thread : null,
    isWanted: documentFilter(ground.query.only),
    limit,
    // Without the signal of this search: when it has ended, the next one finds the vectors in memory.
    remake: hasRemadeVectors(model) ? (texts) => embedder.embed(texts) : undefined,
  })
  if (agentsLeftOut === 0) return { documents, model, comparedBy, degraded }
  const reason = 'an agent has more vectors than are compared in memory: see `heddle doctor`'
  return documents.length === 0 ? nothing(reason) : { documents, model, comparedBy, degraded: reason }
}

/** During a change of the model: the embedder of one whose vectors are complete; null: search by words only. */
async function older(coverage: Coverage, embedderOf: QueryEmbedder): Promise<TextEmbedder | null> {
  const covering = coverage.find(({ threadsBehind }) => threadsBehind === 0)
  const embedder = covering === undefined ? null : await embedderOf(covering.model)
  return embedder?.model === covering?.model ? embedder : null
}

type Coverage = Awaited<ReturnType<typeof loadModelCoverage>>

/** Why the vectors of a model are incomplete; null if they are complete. */
function behind(coverage: Coverage, model: string): string | null {
  const own = coverage.find((each) => each.model === model)
  if (own === undefined) return coverage.length === 0 ? null : `no thread has vectors of ${model} yet`
  return own.threadsBehind === 0 ? null : `${own.threadsBehind} threads have no vectors of ${model} yet`
}
