import { idsOfKey } from '@heddle/client/calls'
import { type ClearOptions, type ClearResult, clearOptionsSchema } from '@heddle/client/interface'
import { ConflictError, nameSchema, notFound, parse } from '@heddle/contracts'
import { agentIdOf } from '@heddle/core'
import { clearAgent } from '@heddle/store'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'

/**
 * Clears the windows of all threads of an agent (docs/windows.md). Nothing is deleted: histories still show every message.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`
 * @throws ConflictError if the key was used for a clear at another time
 */
export async function clearWindows(
  { store, projectId, clock }: EngineContext,
  name: string,
  options: ClearOptions = {},
): Promise<ClearResult> {
  const agent = parse(nameSchema, name, 'agent')
  const { clearedAt, idempotencyKey } = parse(clearOptionsSchema, options, 'clear')
  const agentId = agentIdOf(projectId, agent)
  // The caller's clock is used even without a given time: the messages that it sends next have times of the same clock.
  const clearedAtMs = clearedAt === undefined ? clock.nowMs() : Date.parse(clearedAt)
  const requestId = idempotencyKey === undefined ? undefined : idsOfKey(idempotencyKey, 'clear', agentId)(0)
  const clear = await store.inProject(projectId, (tx) => clearAgent(tx, { agentId, clearedAtMs, requestId }))
  if (!clear) throw notFound('agent', agent, 'see `heddle agents list`')
  const isOther = clearedAt !== undefined && clear.clearedAtMs !== clearedAtMs
  if (idempotencyKey !== undefined && !clear.isNew && isOther) {
    throw new ConflictError('this idempotency key was used for a clear at another time', {
      field: 'idempotencyKey',
      received: idempotencyKey,
      hint: 'Use a new key for each clear.',
    })
  }
  const { epoch, threads, lastClearedAtMs } = clear
  return { agent, agentId, clearedAt: isoTime(lastClearedAtMs), epoch, threads }
}
