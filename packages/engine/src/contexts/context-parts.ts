import { type ContextResult, PermanentError } from '@heddle/contracts'
import { fillSlots, slotsIn } from '@heddle/core'
import { loadPartContents } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/**
 * A context with the bytes of its images, documents and sounds. Up to here it holds slots in their places: what is stored and
 * sent of contexts never copies them.
 *
 * @throws PermanentError `NOT_FOUND` where bytes were erased
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
      hint: 'what was erased cannot be brought back; ask for the context again',
    })
  }
  const base64 = new Map([...contents].map(([hash, bytes]) => [hash, bytes.toString('base64')]))
  return { ...context, messages: fillSlots(context.messages, (hash) => base64.get(hash)) }
}
