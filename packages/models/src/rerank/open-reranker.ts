import { PermanentError } from '@heddle/contracts'
import { type Clock, systemClock } from '@heddle/runtime'
import { transformersCacheDir } from '../embed/local-models.js'
import { createHttpReranker } from './http-reranker.js'
import { createLocalReranker } from './local-reranker.js'
import type { Reranker } from './reranker.js'

/** The reranker settings of the configuration. */
export interface RerankerSettings {
  readonly kind: 'off' | 'local' | 'http'
  /** Null for the default of `local`; a service needs one. */
  readonly model: string | null
  /** Address of a service with `/rerank`. */
  readonly baseUrl: string | null
}

/**
 * Opens the configured reranker; null if it is off. A service is used only if it is configured: a key set for another
 * purpose is no permission to send it messages.
 *
 * @throws PermanentError `NOT_FOUND` for a model that is not on disk; `VALIDATION_ERROR` for a service without an address or
 *   a model
 */
export async function openReranker(
  { kind, model, baseUrl }: RerankerSettings,
  {
    env,
    modelsDir,
    clock = systemClock,
  }: { env: Readonly<Record<string, string | undefined>>; modelsDir: string | null; clock?: Clock },
): Promise<Reranker | null> {
  if (kind === 'off') return null
  if (kind === 'local') {
    const named = model === null ? {} : { model }
    return await createLocalReranker({ ...named, modelsDir, cacheDir: transformersCacheDir(env), clock })
  }
  return createHttpReranker({
    model: required(model, 'reranker.model', 'HEDDLE_RERANK_MODEL'),
    baseUrl: required(baseUrl, 'reranker.baseUrl', 'HEDDLE_RERANK_BASE_URL'),
    apiKey: env['HEDDLE_RERANK_API_KEY']?.trim() || null,
    clock,
  })
}

function required(value: string | null, field: string, variable: string): string {
  if (value !== null) return value
  throw new PermanentError('VALIDATION_ERROR', `the reranker "http" needs ${field}`, {
    field,
    hint: `Set ${variable}, or set the reranker to "off".`,
  })
}
