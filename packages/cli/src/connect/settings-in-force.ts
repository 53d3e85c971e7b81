import { type SettingLayer, settingOrigins } from '@heddle/contracts'
import { settingsSourcesOf, variableOfSetting } from '@heddle/runtime'
import { type CommandContext, type CommonOptions, configOf } from './context.js'
import { gatewayOf } from './gateway-address.js'
import { type UrlOptions, withRemote } from './with-remote.js'

/** An effective setting and its source. */
export interface SettingRow {
  readonly name: string
  readonly value: unknown
  readonly from: 'default' | 'file' | 'environment' | 'agent'
  /** The path of the file, the variable, or the agent. */
  readonly source: string | null
  readonly default: unknown
}

interface Options extends CommonOptions, UrlOptions {
  readonly agent?: string
}

/** The effective settings of an agent, or of agents without their own. Without an agent no store is opened. */
export async function effectiveSettings(context: CommandContext, options: Options): Promise<SettingRow[]> {
  const { agent } = options
  const isRemote = gatewayOf(context, options) !== null
  if (isRemote) context.printer.note("the gateway's own heddle.yaml and environment are not visible from here")
  if (!isRemote) configOf(context, options)
  const { path, layers } = isRemote ? { path: '', layers: [] } : settingsSourcesOf(context)
  const all: SettingLayer[] = layers.map(({ kind, settings }) => ({ from: kind, settings }))
  if (agent !== undefined) {
    const { settings } = await withRemote(context, options, null, ({ agents }) => agents.get(agent))
    all.push({ from: 'agent', settings })
  }
  return settingOrigins(all).map(({ from, ...field }) => {
    const kind = (from ?? 'default') as SettingRow['from']
    const sources = {
      default: null,
      file: path,
      environment: variableOfSetting(field.name) ?? null,
      agent: agent ?? null,
    }
    return { ...field, from: kind, source: sources[kind] }
  })
}
