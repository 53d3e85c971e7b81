import { type SettingLayer, settingOrigins } from '@heddle/contracts'
import { settingsSourcesOf, variableOfSetting } from '@heddle/runtime'
import { type CommandContext, type CommonOptions, configOf } from './context.js'
import { gatewayOf } from './gateway-address.js'
import { type UrlOptions, withRemote } from './with-remote.js'

/** An effective setting and its source. */
export interface SettingRow {
  readonly name: string
  readonly value: unknown
  /** `default`, or the layer: `file`, `environment`, `flags` of a gateway, or `agent`. */
  readonly from: string
  /** The path of the file, the variable, or the agent; null if the gateway has the source. */
  readonly source: string | null
  readonly default: unknown
}

interface Options extends CommonOptions, UrlOptions {
  readonly agent?: string
}

/** The effective settings of an agent, or of agents without their own. Without an agent no store is opened. */
export async function effectiveSettings(context: CommandContext, options: Options): Promise<SettingRow[]> {
  const { agent } = options
  if (gatewayOf(context, options) !== null) return await settingsOfGateway(context, options)
  configOf(context, options)
  const { path, layers } = settingsSourcesOf(context)
  const all: SettingLayer[] = layers.map(({ kind, settings }) => ({ from: kind, settings }))
  if (agent !== undefined) {
    const { settings } = await withRemote(context, options, null, ({ agents }) => agents.get(agent))
    all.push({ from: 'agent', settings })
  }
  return settingOrigins(all).map(({ from, ...field }) => {
    const sources: Readonly<Record<string, string | undefined>> = {
      file: path,
      environment: variableOfSetting(field.name),
      agent,
    }
    return { ...field, from: from ?? 'default', source: (from !== null && sources[from]) || null }
  })
}

/** Sources are named only as far as the gateway does: its files are those of another machine. */
async function settingsOfGateway(context: CommandContext, options: Options): Promise<SettingRow[]> {
  const { agent } = options
  if (agent === undefined) {
    context.printer.note("the gateway's own heddle.yaml and environment are visible only with --agent")
    return settingOrigins([]).map((field) => ({ ...field, from: 'default', source: null }))
  }
  const { items } = await withRemote(context, options, null, ({ agents }) => agents.settings(agent))
  return items.map((field) => ({
    ...field,
    from: field.from ?? 'default',
    source: field.from === 'agent' ? agent : null,
  }))
}
