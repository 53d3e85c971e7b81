import { type ContextResult, PermanentError } from '@heddle/contracts'
import { fillSlots, slotsIn } from '@heddle/core'
import { loadPartContents } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/**
 * A context with the bytes of its images, documents and sounds. Stored and sent contexts have placeholders instead, so that
 * the bytes are never copied.
 *
 * @throws PermanentError `NOT_FOUND` if bytes were erased
 */
export async function withPartBytes(
  { store, projectId }: EngineContext,
  context: ContextResult,
): Promise<ContextResult> {
  const hashes = slotsIn(context.messages)
  if (hashes.size === 0) return context
  const contents = await store.inProject(projectId, (tx) => loadPartContents(tx, hashes))
  if (contents.size < hashes.size) {
    throw new PermanentError('NOT_FOUND', `context ${context.id} cannot be shown: images or files in it were erased`, {
      field: 'context',
      received: context.id,
      hint: 'Erased files cannot be restored. Build a new context of the thread.',
    })
  }
  const base64 = new Map([...contents].map(([hash, bytes]) => [hash, bytes.toString('base64')]))
  return { ...context, messages: fillSlots(context.messages, (hash) => base64.get(hash)) }
}
