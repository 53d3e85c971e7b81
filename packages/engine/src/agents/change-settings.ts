import type { AgentsClient } from '@heddle/client/interface'
import { type Agent, HeddleError, type PartialSettings } from '@heddle/contracts'

/** Most attempts: each conflict means that another writer has succeeded. */
const TRIES_MAX = 20

/**
 * Changes settings of an agent without losing concurrent changes: after a conflict the change is applied to the new settings.
 *
 * @param change returns the new settings for the current ones; called again after a conflict
 * @throws ConflictError after too many conflicts; errors of `agents`
 */
export async function changeSettings(
  agents: Pick<AgentsClient, 'get' | 'put'>,
  name: string,
  change: (settings: PartialSettings) => PartialSettings,
  { mustExist = true }: { readonly mustExist?: boolean } = {},
): Promise<Agent> {
  for (let tries = 1; ; tries++) {
    const { version, settings } = await agents.get(name).catch((error: unknown) => {
      if (mustExist || !isOf(error, 'NOT_FOUND')) throw error
      return { version: 0, settings: {} }
    })
    try {
      return await agents.put(name, { settings: change(settings), ifVersion: version })
    } catch (error) {
      if (tries === TRIES_MAX || !isOf(error, 'CONFLICT') || error.field !== 'ifVersion') throw error
    }
  }
}

function isOf(error: unknown, code: string): error is HeddleError {
  return error instanceof HeddleError && error.code === code
}
