import { ConflictError, type OnUsedId, type PlacedMessage } from '@heddle/contracts'
import { placedFingerprintSteps } from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import { ERASED_FINGERPRINT, existingMessages } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/** Ids of one query. */
const IDS_PER_QUERY = 5_000

/** The fingerprints of those messages that the thread has, by id. */
export async function fingerprintsOf(
  { store, projectId }: Pick<EngineContext, 'store' | 'projectId'>,
  threadId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const existing = new Map<string, string>()
  for (let from = 0; from < ids.length; from += IDS_PER_QUERY) {
    const some = ids.slice(from, from + IDS_PER_QUERY)
    const found = await store.inProject(projectId, (tx) => existingMessages(tx, { threadId, ids: some }))
    for (const [id, fingerprint] of found) existing.set(id, fingerprint)
  }
  return existing
}

/**
 * Those of the messages that the thread has, by id.
 *
 * @param onUsedId Default `refuse`
 * @throws ConflictError if an id is used by another message
 */
export async function storedOf(
  parts: Pick<EngineContext, 'store' | 'projectId'>,
  threadId: string,
  placed: readonly Pick<PlacedMessage, 'message' | 'iteration'>[],
  onUsedId: OnUsedId = 'refuse',
): Promise<ReadonlySet<string>> {
  const ids = placed.map(({ message }) => message.id)
  const existing = await fingerprintsOf(parts, threadId, ids)
  for (const [index, one] of onUsedId === 'keep' ? [] : placed.entries()) {
    const { message } = one
    const stored = existing.get(message.id)
    if (
      stored !== undefined &&
      stored !== ERASED_FINGERPRINT &&
      stored !== (await runCooperatively(placedFingerprintSteps(one)))
    ) {
      throw new ConflictError(`message ${message.id} is stored with other content`, {
        field: `messages.${index}.id`,
        received: message.id,
        hint: 'Give each message a separate id.',
      })
    }
  }
  return new Set(ids.filter((id) => existing.has(id)))
}
