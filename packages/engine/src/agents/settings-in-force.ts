import type { Page, SettingInForce } from '@heddle/client/interface'
import { settingOrigins } from '@heddle/contracts'
import type { EngineContext } from '../setup/options.js'
import { getAgent } from './agents.js'

/**
 * The settings of an agent over those of the deployment over the defaults, and the layer that sets each.
 *
 * @throws PermanentError `NOT_FOUND` for an unknown agent
 */
export async function settingsInForce(parts: EngineContext, agent: string): Promise<Page<SettingInForce>> {
  const { settings } = await getAgent(parts, agent)
  return { items: settingOrigins([...parts.settingLayers, { from: 'agent', settings }]), nextCursor: null }
}
