import { newId } from '@heddle/client/calls'
import { type ContextRequest, type ContextResult, validationError } from '@heddle/contracts'
import type { EngineContext } from '../setup/options.js'
import { withPartBytes } from './context-parts.js'

/**
 * Builds a context in this process, without a row, a job or an event.
 *
 * @throws PermanentError as a build; `VALIDATION_ERROR` in a program that cannot build contexts itself
 */
export async function previewContext(
  parts: EngineContext,
  request: ContextRequest,
  deadlineMs: number,
): Promise<ContextResult> {
  const { previewer, projectId } = parts
  if (previewer === null) {
    const hint = 'request the preview over HTTP: the gateway builds it'
    throw validationError('store', 'must be true: this client cannot build contexts itself', false, hint)
  }
  const built = await previewer(request, { projectId, deadlineMs })
  return await withPartBytes(parts, { id: newId(), ...built })
}

/** @throws PermanentError `VALIDATION_ERROR` for a preview with an effect, or that nobody waits for */
export function refuseStoredPreview(
  { store, at }: Pick<ContextRequest, 'store' | 'at'>,
  { isAppended, isAwaited }: { readonly isAppended: boolean; readonly isAwaited: boolean },
): void {
  if (store !== false) return
  if (isAppended) throw validationError('store', 'must be true with append, which stores messages', false)
  if (at !== undefined) throw validationError('store', 'must be true with at, which shows what was stored', false)
  if (!isAwaited) throw validationError('store', 'must be true unless its answer is awaited', false)
}
