import { hasRemadeVectors } from '@heddle/core'
import {
  bytesPerVector,
  canIndex,
  isIndexable,
  type PgvectorState,
  type ScopeSize,
  VECTORS_EXACT_MAX,
} from '@heddle/store'
import { type Check, passed, warned } from './check.js'

/**
 * How vectors are compared: by the index of pgvector, or one by one in memory, which has two limits.
 *
 * @param largest the scope with the most vectors; null without any
 */
export function searchCheck(
  pgvector: PgvectorState,
  { largest, cacheMegabytes }: { largest: ScopeSize | null; cacheMegabytes: number },
): Check {
  const name = 'search'
  const size = largest === null ? 'no vectors yet' : `at most ${largest.chunks} chunks, of agent "${largest.agent}"`
  const isIndexed = largest === null || (isIndexable(largest.dimensions) && !hasRemadeVectors(largest.model))
  if (pgvector.isUsed && isIndexed) {
    return passed(name, `vectors by the index of pgvector ${pgvector.installed}; ${size}`)
  }
  const detail = `vectors one by one in memory, up to ${VECTORS_EXACT_MAX} chunks of an agent and ${cacheMegabytes} MB of a process; ${size}`
  const megabytes = largest === null ? 0 : (largest.chunks * bytesPerVector(largest.dimensions)) / MEGABYTE
  if (largest === null || (largest.chunks <= VECTORS_EXACT_MAX && megabytes <= cacheMegabytes)) {
    return isOffered(pgvector) ? warned(name, detail, USE_IT) : passed(name, detail)
  }
  const overdue = `Searches of this agent use words only. ${remedy(pgvector, largest)}`
  if (largest.chunks > VECTORS_EXACT_MAX) return warned(name, detail, overdue)
  return warned(
    name,
    `${detail}, which take ${Math.ceil(megabytes)} MB`,
    `${overdue} Or raise HEDDLE_VECTOR_CACHE_MEGABYTES.`,
  )
}

const MEGABYTE = 1024 * 1024

const USE_IT =
  'This server has pgvector: run "heddle migrate"; if its login may not create extensions, first run "create extension vector" as a superuser.'

function isOffered({ available, installed, isUsed }: PgvectorState): boolean {
  const version = installed ?? available
  return !isUsed && version !== null && canIndex(version)
}

function remedy(pgvector: PgvectorState, { dimensions, model }: ScopeSize): string {
  if (hasRemadeVectors(model)) {
    return 'Vectors of a hashing embedder have no index: choose another embedding model, or spread the threads over several agents.'
  }
  if (!isIndexable(dimensions)) {
    return `Vectors of ${dimensions} dimensions have no index: choose another embedding model, or spread the threads over several agents.`
  }
  if (isOffered(pgvector)) {
    return `pgvector is needed. ${USE_IT}`
  }
  return 'pgvector is needed: install version 0.8 or later on the server, then run "heddle migrate"; or spread the threads over several agents.'
}
