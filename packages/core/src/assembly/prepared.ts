import type { ContextRequest, PartialSettings, Settings } from '@heddle/contracts'
import { canonicalJson, fingerprint } from '../conversation/fingerprint.js'
import { memoryLimits } from '../memories/index.js'
import { ITERATIONS } from '../strategies/iterations.js'
import { RENDERER_VERSION } from './receipt.js'

/** Between the key of a request and the context that its sender has. */
const SEPARATOR = '+'

/**
 * The key of a prepared context: the whole request, the settings that agents override, and the version of the renderer.
 * Settings of agents and threads have versions of their own.
 *
 * @returns null if contexts are never prepared for such a request: not wanted, or it has a message that is known only
 * when it arrives
 */
export function preparedKey(request: ContextRequest, settings: PartialSettings): string | null {
  if (request.prebuild === false || request.message !== undefined || request.strategy === ITERATIONS) return null
  // These scopes depend on messages of other threads, or on the time of the request.
  if (request.scope?.threads !== undefined || request.scope?.since !== undefined) return null
  return fingerprint(canonicalJson([RENDERER_VERSION, request, settings]))
}

/**
 * Whether to prepare the next context of a request. Recall depends on each request, so contexts with recall are not
 * prepared.
 */
export function isToBePrepared(request: ContextRequest, settings: Settings): boolean {
  return (request.prebuild ?? settings.prebuild) && memoryLimits(request, settings) === null
}

/** The request without its message. Requests of one key use the same inputs as long as nothing changes. */
export function requestKey(projectId: string, request: ContextRequest): string {
  return fingerprint(canonicalJson([projectId, { ...request, message: undefined }]))
}

/**
 * The key in a job whose sender has an earlier context of the request. For workers that know no such form it is the key of a
 * request that they never built, which costs them one more read.
 */
export function keyWithBase(key: string, baseId: string | undefined): string {
  return baseId === undefined ? key : `${key}${SEPARATOR}${baseId}`
}

/** The parts of a job's key. A sender of an earlier version names no base. */
export function readRequestKey(text: string | undefined): { readonly key?: string; readonly baseId?: string } {
  const [key, baseId] = text?.split(SEPARATOR) ?? []
  return { ...(key !== undefined && { key }), ...(baseId !== undefined && { baseId }) }
}
