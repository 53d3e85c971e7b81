import {
  parse,
  partialSettingsSchema,
  readSetting,
  type SettingInForce,
  settingName,
  validationError,
  withSetting,
} from '@heddle/contracts'
import { changeSettings } from '../agents/change-settings.js'
import type { ChatClient } from './client.js'
import { CHAT_FIELDS_MAX, type ChatReply, chatReply } from './reply.js'

/**
 * `/settings` shows the effective settings of the agent with their sources, in pages; `/settings 2` the second page,
 * `/settings rolling_window` one setting, and `/settings rolling_window 7200` sets it. Names are those of `heddle.yaml`, or the
 * same in snake case (docs/chat.md).
 */
export async function settingsCommand(client: ChatClient, agent: string, rest: string): Promise<ChatReply> {
  const { items: effective } = await client.agents.settings(agent)
  const [given = '', ...values] = rest.trim().split(/\s+/)
  if (/^\d*$/.test(given) && values.length === 0) return pageOf(agent, effective, given === '' ? 1 : Number(given))
  const name = settingName(given)
  const origin = effective.find((each) => each.name === name)
  if (origin === undefined) {
    const names = effective.map((each) => each.name).join(', ')
    throw validationError('setting', 'must be a setting that /settings lists', given, names)
  }
  if (values.length === 0) return chatReply(`Setting of ${agent}`, sourceOf(origin), [fieldOf(origin)])
  const value = readSetting(values.join(' '))
  await changeSettings(client.agents, agent, (now) =>
    parse(partialSettingsSchema, withSetting(now, name, value), 'settings'),
  )
  return chatReply(`Setting of ${agent} changed`, `From ${JSON.stringify(origin.value)} to ${JSON.stringify(value)}.`, [
    { name, value: JSON.stringify(value) },
  ])
}

function pageOf(agent: string, effective: readonly SettingInForce[], page: number): ChatReply {
  const pages = Math.ceil(effective.length / CHAT_FIELDS_MAX)
  if (page < 1 || page > pages) throw validationError('page', `must be from 1 to ${pages}`, String(page))
  const shown = effective.slice((page - 1) * CHAT_FIELDS_MAX, page * CHAT_FIELDS_MAX)
  const next = page < pages ? ` Next: /settings ${page + 1}` : ''
  return chatReply(`Settings of ${agent}`, `Page ${page} of ${pages}.${next}`, shown.map(fieldOf))
}

/** The value, and where it was set unless that is the default. */
function fieldOf({ name, value, from }: SettingInForce) {
  return { name, value: from === null ? JSON.stringify(value) : `${JSON.stringify(value)} (${from})` }
}

function sourceOf({ from, default: fallback }: SettingInForce): string {
  return from === null ? 'The default.' : `Set by: ${from}. The default is ${JSON.stringify(fallback)}.`
}
