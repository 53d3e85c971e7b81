import {
  parse,
  partialSettingsSchema,
  readSetting,
  settingFields,
  settingName,
  validationError,
  withSetting,
} from '@heddle/contracts'
import { changeSettings } from '../agents/change-settings.js'
import type { ChatClient } from './client.js'
import { type ChatReply, chatReply } from './reply.js'

/**
 * `/settings` shows the settings of the agent, `/settings rolling_window` one of them, and `/settings rolling_window 7200`
 * sets it. Names are those of `heddle.yaml`, or the same in snake case (docs/chat.md).
 */
export async function settingsCommand(client: ChatClient, agent: string, rest: string): Promise<ChatReply> {
  const { settings } = await client.agents.get(agent)
  const [given = '', ...values] = rest.trim().split(/\s+/)
  const fields = settingFields(settings).map(({ name, value }) => ({ name, value: JSON.stringify(value) }))
  if (given === '') return chatReply(`Settings of ${agent}`, 'As set for this agent, or by default.', fields)
  const name = settingName(given)
  const field = fields.find((each) => each.name === name)
  if (field === undefined) {
    const names = fields.map((each) => each.name).join(', ')
    throw validationError('setting', 'must be a setting that /settings lists', given, names)
  }
  if (values.length === 0) return chatReply(`Setting of ${agent}`, 'As set for this agent, or by default.', [field])
  const value = readSetting(values.join(' '))
  await changeSettings(client.agents, agent, (now) =>
    parse(partialSettingsSchema, withSetting(now, name, value), 'settings'),
  )
  return chatReply(`Setting of ${agent} changed`, `From ${field.value} to ${JSON.stringify(value)}.`, [
    { name, value: JSON.stringify(value) },
  ])
}
