import { documentFilter, type NearDocument, quantizeVector, type TextEmbedder } from '@heddle/core'
import { within } from '@heddle/runtime'
import { listAgents } from '../projects/agents.js'
import { loadModelCoverage } from '../vectors/vector-scopes.js'
import type { VectorComparison } from '../vectors/vector-search.js'
import type { QueryEmbedder, SearchGround, SearchParts } from './search-scope.js'

/** What vectors gave to a search. */
export interface VectorLeg {
  /** The nearest first. */
  readonly documents: readonly NearDocument[]
  /** The model of the vectors; null where none were compared. */
  readonly model: string | null
  /** How they were compared; null where none were. */
  readonly comparedBy: VectorComparison | null
  /** Why vectors took no part, or only in part; null where nothing is amiss. */
  readonly degraded: string | null
}

/** Agents whose vectors a search of the whole project compares. */
const AGENTS_MAX = 100

/**
 * The messages whose vectors are nearest to a query. It never fails: a search by words alone is better than none, and says
 * what is amiss. What takes too long goes on by itself, so that the next search finds the vectors in memory.
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
      parts.log?.warn({ error }, 'vectors could not be searched')
      return nothing(`vectors failed: ${error instanceof Error ? error.message : String(error)}`)
    },
  )
  const late = () => {
    controller.abort(new Error('the search does not wait for it any more'))
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
  /** Whether vectors of a model count for anything in this search. */
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
  const degraded = isBehind === null ? tooMany : `those of ${model} are used meanwhile: ${isBehind}`
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
    thread: ground.query.only.thread,
    isWanted: documentFilter(ground.query.only),
    limit,
  })
  if (agentsLeftOut === 0) return { documents, model, comparedBy, degraded }
  const reason = 'an agent has more vectors than are compared in memory: see `heddle doctor`'
  return documents.length === 0 ? nothing(reason) : { documents, model, comparedBy, degraded: reason }
}

/** While the model is being changed: the embedder of one that covers everything; without it words alone are searched. */
async function older(coverage: Coverage, embedderOf: QueryEmbedder): Promise<TextEmbedder | null> {
  const covering = coverage.find(({ threadsBehind }) => threadsBehind === 0)
  const embedder = covering === undefined ? null : await embedderOf(covering.model)
  return embedder?.model === covering?.model ? embedder : null
}

type Coverage = Awaited<ReturnType<typeof loadModelCoverage>>

/** Why the vectors of a model are not all that there are; null where they are. */
function behind(coverage: Coverage, model: string): string | null {
  const own = coverage.find((each) => each.model === model)
  if (own === undefined) return coverage.length === 0 ? null : `nothing has vectors of ${model} yet`
  return own.threadsBehind === 0 ? null : `${own.threadsBehind} threads have no vectors of ${model} yet`
}
