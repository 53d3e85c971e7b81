import { ConflictError, nameSchema, notFound, parse, timeSchema } from '@heddle/contracts'
import { agentIdOf } from '@heddle/core'
import { clearAgent } from '@heddle/store'
import { z } from 'zod'
import { idsOfKey } from '../calls/idempotency.js'
import type { ClientParts } from '../setup/options.js'

const clearOptionsSchema = z.strictObject({
  /** When the agent was cleared, by the caller's clock; from its arrival on at the latest. Default now. */
  clearedAt: timeSchema.optional(),
  /** Asked for again under the same key, it is the same clear: what was sent since stays in the window. */
  idempotencyKey: z.string().optional(),
})
export type ClearOptions = z.input<typeof clearOptionsSchema>

export interface ClearResult {
  readonly agent: string
  readonly agentId: string
  /** The time from which messages are shown again: that of the agent's latest clear. */
  readonly clearedAt: string
  /** How often the agent was cleared. */
  readonly epoch: number
  /** Threads that have messages which the clear hides. */
  readonly threads: number
}

/**
 * Clears the windows of all threads of an agent (docs/windows.md). Nothing is deleted: histories still show every message.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`
 * @throws ConflictError where the key stands for a clear at another time
 */
export async function clearWindows(
  { store, projectId, clock }: ClientParts,
  name: string,
  options: ClearOptions = {},
): Promise<ClearResult> {
  const agent = parse(nameSchema, name, 'agent')
  const { clearedAt, idempotencyKey } = parse(clearOptionsSchema, options, 'clear')
  const agentId = agentIdOf(projectId, agent)
  // By the caller's clock, also where no time is given: the messages that it sends next carry times of the same clock.
  const clearedAtMs = clearedAt === undefined ? clock.nowMs() : Date.parse(clearedAt)
  const requestId = idempotencyKey === undefined ? undefined : idsOfKey(idempotencyKey, 'clear', agentId)(0)
  const clear = await store.inProject(projectId, (tx) => clearAgent(tx, { agentId, clearedAtMs, requestId }))
  if (!clear) throw notFound('agent', agent, 'see `heddle agents list`')
  const isOther = clearedAt !== undefined && clear.clearedAtMs !== clearedAtMs
  if (idempotencyKey !== undefined && !clear.isNew && isOther) {
    throw new ConflictError('under this idempotency key the agent was cleared at another time', {
      field: 'idempotencyKey',
      received: idempotencyKey,
      hint: 'Use a new key for each clear.',
    })
  }
  const { epoch, threads, lastClearedAtMs } = clear
  return { agent, agentId, clearedAt: new Date(lastClearedAtMs).toISOString(), epoch, threads }
}
