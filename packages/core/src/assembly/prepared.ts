import type { ContextRequest, PartialSettings, Settings } from '@heddle/contracts'
import { canonicalJson, fingerprint } from '../conversation/fingerprint.js'
import { memoryLimits } from '../memories/index.js'
import { ITERATIONS } from '../strategies/iterations.js'
import { RENDERER_VERSION } from './receipt.js'

/**
 * What a request asks for, as a key under which a context that was prepared for it is found: all of the request, the
 * settings under those of agents, and how contexts are rendered. Settings of agents and threads have versions of their own.
 *
 * @returns null where nothing is ever prepared: not wanted, or for a message that is known only when it is asked
 */
export function preparedKey(request: ContextRequest, settings: PartialSettings): string | null {
  if (request.prebuild === false || request.message !== undefined || request.strategy === ITERATIONS) return null
  // What these bound changes with the messages of other threads, or with each moment.
  if (request.scope?.threads !== undefined || request.scope?.since !== undefined) return null
  return fingerprint(canonicalJson([RENDERER_VERSION, request, settings]))
}

/** Whether the next context of a request is to be prepared: not where it recalls, which is found out for each. */
export function isToBePrepared(request: ContextRequest, settings: Settings): boolean {
  return (request.prebuild ?? settings.prebuild) && memoryLimits(request, settings) === null
}

/** Of a request but for its message: contexts of requests of one key are made of the same, as long as nothing changes. */
export function requestKey(projectId: string, request: ContextRequest): string {
  return fingerprint(canonicalJson([projectId, { ...request, message: undefined }]))
}
