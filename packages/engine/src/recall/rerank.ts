import { RetryableError } from '@heddle/contracts'
import { excerpt } from '@heddle/core'
import { runCooperatively, untilStopped, withDeadline } from '@heddle/runtime'
import { type FoundRow, type HitRow, loadHitTexts } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/** The part of a text from which its best passage is taken. */
const CHARACTERS_OF_HIT_MAX = 50_000
/** About 256 tokens: a model reads the query, and the passage that words and vectors found. */
const PASSAGE_CHARACTERS = 1_000

/** The place that a reranker gave a result. */
export interface Reranked {
  /** The score of the model; higher is better. */
  readonly score: number
  /** Its place without the reranker, from 1. */
  readonly from: number
}

export interface RerankedRows {
  readonly rows: readonly (FoundRow<HitRow> & { readonly reranked: Reranked | null })[]
  /** The model; null if the order is that of words and vectors. */
  readonly model: string | null
  /** Why the reranker was not used, although it is configured. */
  readonly degraded: string | null
}

/**
 * Orders the first results by a model that reads query and text together; the others follow in their order. If the model is
 * missing, fails, or takes longer than a search may wait, the order stays as it was.
 */
export async function rerank(
  parts: EngineContext,
  query: string,
  { rows, terms }: { readonly rows: readonly FoundRow<HitRow>[]; readonly terms: ReadonlySet<string> },
): Promise<RerankedRows> {
  const { reranker, clock, log } = parts
  const unchanged = rows.map((row) => ({ ...row, reranked: null }))
  if (reranker === null || rows.length < 2) return { rows: unchanged, model: null, degraded: null }
  const { candidates, timeoutMs } = reranker
  const read = rows.slice(0, candidates)
  const late = () => new RetryableError('TIMEOUT', `the reranker did not answer within ${timeoutMs} ms`)
  const work = async (signal: AbortSignal) => {
    const opened = await reranker.open()
    if (opened === null) return null
    signal.throwIfAborted()
    const texts = await passagesOf(parts, read, terms)
    return { model: opened.model, scores: await opened.score(query, texts, signal) }
  }
  try {
    const outcome = await withDeadline((signal) => untilStopped(signal, work(signal)), { timeoutMs, late, clock })
    if (outcome === null) return { rows: unchanged, model: null, degraded: null }
    const { model, scores } = outcome
    const ordered = read
      .map((row, index) => ({ ...row, reranked: { score: scores[index] ?? 0, from: index + 1 } }))
      .sort((left, right) => right.reranked.score - left.reranked.score || left.reranked.from - right.reranked.from)
    return { rows: [...ordered, ...unchanged.slice(read.length)], model, degraded: null }
  } catch (error) {
    log?.debug({ err: error }, 'results kept their order: the reranker failed')
    const reason = error instanceof Error ? error.message : String(error)
    return { rows: unchanged, model: null, degraded: `not reranked: ${reason}` }
  }
}

async function passagesOf(
  { store, projectId }: EngineContext,
  rows: readonly FoundRow<HitRow>[],
  terms: ReadonlySet<string>,
): Promise<string[]> {
  const places = rows.map(({ place }) => place)
  const texts = await store.inProject(projectId, (tx) =>
    loadHitTexts(tx, { places, charactersMax: CHARACTERS_OF_HIT_MAX }),
  )
  const contentAt = new Map(texts.map(({ place, content }) => [place, content]))
  const passages: string[] = []
  for (const index of rows.keys()) {
    passages.push(await runCooperatively(excerpt(contentAt.get(index) ?? '', terms, PASSAGE_CHARACTERS)))
  }
  return passages
}
