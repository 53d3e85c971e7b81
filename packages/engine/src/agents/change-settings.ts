import type { AgentsClient } from '@heddle/client/interface'
import { type Agent, HeddleError, type PartialSettings } from '@heddle/contracts'

/** Others who change the same agent at the same moment are met so often at most: each time one of them has got through. */
const TRIES_MAX = 20

/**
 * Changes settings of an agent and loses no change that others make meanwhile: the change is made again to what they left.
 *
 * @param change from the settings that the agent has to those that it gets; called again where somebody came first
 * @throws ConflictError where others keep coming first; whatever `agents` throws
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
